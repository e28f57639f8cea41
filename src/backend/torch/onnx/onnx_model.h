// An ONNX file as a model of the torch side.
#ifndef PARITY_BACKEND_TORCH_ONNX_ONNX_MODEL_H_
#define PARITY_BACKEND_TORCH_ONNX_ONNX_MODEL_H_

#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/onnx/graph_evaluator.h"
#include "backend/torch/onnx/operator_context.h"
#include "parity/error.h"

namespace parity {

class OnnxModel {
 public:
  // Errors: those of reading the file; kUnsupported for an opset before 7.
  [[nodiscard]] static Result<OnnxModel> Open(const std::string& path,
                                              FloatingType floating);

  // Of the graph, in order, without constants.
  [[nodiscard]] const std::vector<std::string>& input_names() const {
    return input_names_;
  }
  [[nodiscard]] const std::vector<std::string>& output_names() const {
    return output_names_;
  }
  // What cannot be evaluated, or not as its opset says.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  // Inputs and outputs may be any values of the graph; see
  // GraphEvaluator::Evaluate(), whose errors these are.
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) const;

 private:
  explicit OnnxModel(GraphEvaluator evaluator)
      : evaluator_(std::move(evaluator)) {}

  GraphEvaluator evaluator_;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  std::vector<std::string> notes_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_ONNX_MODEL_H_
