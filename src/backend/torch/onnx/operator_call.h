// For tests: calls an operator as the evaluator would.
#ifndef PARITY_BACKEND_TORCH_ONNX_OPERATOR_CALL_H_
#define PARITY_BACKEND_TORCH_ONNX_OPERATOR_CALL_H_

#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "graph/model.h"

namespace parity {

struct OperatorCall {
  std::string op_type;
  std::int64_t opset = 0;
  std::vector<at::Tensor> inputs;  // undefined: omitted
  std::vector<Attribute> attributes = {};
  std::size_t output_count = 1;
};

// With floating values in float64. Throws OperatorError.
inline std::vector<at::Tensor> Outputs(const OperatorCall& call) {
  Node node;
  node.op_type = call.op_type;
  node.attributes = call.attributes;
  for (std::size_t i = 0; i < call.output_count; ++i)
    node.outputs.push_back("output " + std::to_string(i));
  const OperatorContext context(node, call.opset, c10::ScalarType::Double,
                                call.inputs, nullptr);
  return Operators().at(call.op_type)(context);
}

inline at::Tensor Output(const OperatorCall& call) {
  return Outputs(call).front();
}

inline at::Tensor Doubles(const std::vector<double>& values,
                          const std::vector<std::int64_t>& shape) {
  return at::tensor(values, at::kDouble).reshape(shape);
}

inline at::Tensor Longs(const std::vector<std::int64_t>& values) {
  return at::tensor(values, at::kLong);
}

inline std::vector<double> Elements(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  const auto* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_OPERATOR_CALL_H_
