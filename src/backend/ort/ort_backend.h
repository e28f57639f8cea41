// The candidate's side: an ONNX file on ONNX Runtime.
#ifndef PARITY_BACKEND_ORT_ORT_BACKEND_H_
#define PARITY_BACKEND_ORT_ORT_BACKEND_H_

#include <memory>
#include <string>

#include "backend/backend.h"
#include "parity/error.h"

namespace parity {

// One session at a time; Load() replaces it, also by one of another library.
// Not thread-safe, and one of them in a process: the C++ interface of ONNX
// Runtime has one global library. Outputs of Run() borrow from ONNX Runtime and
// must be gone before the next Load() and before this object.
class OrtBackend : public Backend {
 public:
  OrtBackend();
  ~OrtBackend() override;

  [[nodiscard]] std::string name() const override { return "ONNX Runtime"; }

  // Takes `path`, `threads`, `provider`, `optimization`, `disabled_optimizers`,
  // `taps`, `runtime_library`, `measured` and `scratch_folder` of the request.
  // Taps are no outputs: a run returns them when it asks for them by name. With
  // taps the model is read and written again in memory, all its weights inside.
  // Errors: kNotFound for the library, the model or a tap, kInvalidArgument for
  // an unknown provider (listing the library's) or optimization, kUnsupported
  // for other kinds of models and for taps of a model beyond 2 GB, kBackend
  // with ONNX Runtime's text.
  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override;

  // Inputs are not copied. With repeats the outputs are those of the last run.
  // Nodes are counted in the first run after a Load() with a scratch folder.
  // Errors: kUnsupported for an output that is no tensor
  // of numbers, kBackend with ONNX Runtime's text for wrong names, shapes and
  // dtypes.
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override;

 private:
  struct Session;
  std::unique_ptr<Session> session_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_ORT_BACKEND_H_
