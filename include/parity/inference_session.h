// Runs one ONNX file in ONNX Runtime, in a process of its own.
#ifndef PARITY_INFERENCE_SESSION_H_
#define PARITY_INFERENCE_SESSION_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {

struct SessionOptions {
  RuntimeOptions runtime;
  WorkerLimits limits;
};

// One loaded model. Movable, not copyable; used by one thread at a time. A
// crash of the runtime ends the session with an error, never the caller's
// process.
class InferenceSession {
 public:
  // Errors: kNotFound, kCorrupt for an unreadable file; kBackend with ONNX
  // Runtime's own text; kWorkerDied.
  [[nodiscard]] static Result<InferenceSession> Open(
      const std::filesystem::path& model, const SessionOptions& options = {});

  InferenceSession(InferenceSession&&) noexcept;
  InferenceSession& operator=(InferenceSession&&) noexcept;
  ~InferenceSession();

  // Names as the file declares them, in its order.
  [[nodiscard]] const std::vector<std::string>& input_names() const;
  [[nodiscard]] const std::vector<std::string>& output_names() const;
  // "ONNX Runtime 1.21.0"
  [[nodiscard]] const std::string& runtime_version() const;

  // Outputs in the order asked for; no names = every output. Errors as Open();
  // kNotFound for a name the model does not have.
  [[nodiscard]] Result<NamedTensors> Run(
      const std::vector<std::string>& output_names, const NamedTensors& inputs);

 private:
  struct State;
  explicit InferenceSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace parity

#endif  // PARITY_INFERENCE_SESSION_H_
