// The PyTorch side of a validation: TorchScript archives and the built-in
// networks, run by libtorch on the CPU; and ONNX graphs, one node after
// another.
#ifndef PARITY_BACKEND_TORCH_TORCH_BACKEND_H_
#define PARITY_BACKEND_TORCH_TORCH_BACKEND_H_

#include <memory>
#include <string>

#include "backend/backend.h"
#include "parity/error.h"

namespace parity {

class OnnxModel;

// Not thread-safe. Uses libtorch's global state (threads, kernels): one per
// process.
//
// kNetwork: inputs "src" and "bgr"; parameters and floating inputs are
// converted to `precision` (float32 when empty), and the outputs have it.
// Errors: kIncompatible for weights that do not fit, kInvalidArgument for
// attributes.
//
// kTorchScript: inputs are matched with forward's arguments by name, or by
// position when the names differ. `precision` converts floating parameters and
// inputs; empty keeps both. Outputs are the tensors of the returned value,
// flattened in order: a dictionary's keys and a named tuple's fields name them,
// all others are "output_0", "output_1", … by position. Attributes are set by
// dotted path ("refine_mode", "refiner.threshold"); the attribute "training"
// switches the whole module.
//
// kOnnx: the graph's operators in libtorch, as onnx/graph_evaluator.h says.
// Inputs and wanted outputs may be any values of the main graph. `precision` is
// what all floating values are held in; empty keeps the types of the graph. A
// traced run describes the values of the main graph, in order.
class TorchBackend : public Backend {
 public:
  TorchBackend();
  ~TorchBackend() override;

  [[nodiscard]] std::string name() const override { return "PyTorch"; }
  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override;
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override;

 private:
  class Model;
  class NetworkModel;
  class ScriptModel;
  Status LoadNetwork(const LoadRequest& request, LoadResult& result);
  Status LoadScript(const LoadRequest& request, LoadResult& result);
  Status LoadOnnx(const LoadRequest& request, LoadResult& result);
  std::unique_ptr<Model> model_;
  std::unique_ptr<OnnxModel> onnx_model_;  // instead of model_
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_TORCH_BACKEND_H_
