// What an operator sees of its node while a graph is evaluated.
#ifndef PARITY_BACKEND_TORCH_ONNX_OPERATOR_CONTEXT_H_
#define PARITY_BACKEND_TORCH_ONNX_OPERATOR_CONTEXT_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model.h"

namespace parity {

// Thrown by operators: what is wrong, without the node's name, which the
// evaluator adds.
class OperatorError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What a graph's floating values are computed in. Nothing: as they are.
using FloatingType = std::optional<c10::ScalarType>;

// Evaluates a subgraph (of If, Loop, Scan) with its inputs bound in order to
// `arguments`, seeing the values of the graphs around it. Gives its outputs.
using SubgraphEvaluator = std::function<std::vector<at::Tensor>(
    const Graph& graph, std::span<const at::Tensor> arguments)>;

// Accessors check what the specification of an operator promises and throw
// OperatorError naming the input or attribute. Undefined tensors stand for
// omitted optional inputs.
class OperatorContext {
 public:
  OperatorContext(const Node& node, std::int64_t opset, FloatingType floating,
                  std::span<const at::Tensor> inputs,
                  SubgraphEvaluator evaluate_subgraph)
      : node_(node),
        opset_(opset),
        floating_(floating),
        inputs_(inputs),
        evaluate_subgraph_(std::move(evaluate_subgraph)) {}

  [[nodiscard]] const Node& node() const { return node_; }
  // Version of the operator's domain.
  [[nodiscard]] std::int64_t opset() const { return opset_; }

  // Inputs. Floating ones have the type the graph is computed in.
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] bool HasInput(std::size_t index) const {
    return index < inputs_.size() && inputs_[index].defined();
  }
  [[nodiscard]] const at::Tensor& Input(std::size_t index) const;
  // Undefined when omitted.
  [[nodiscard]] at::Tensor OptionalInput(std::size_t index) const;
  // The elements of an integer input, flattened.
  [[nodiscard]] std::vector<std::int64_t> IntegersInput(
      std::size_t index) const;
  // The elements of a floating input, flattened.
  [[nodiscard]] std::vector<double> FloatsInput(std::size_t index) const;

  // Outputs the node lists; an empty name is an output nobody wants.
  [[nodiscard]] std::size_t output_count() const {
    return node_.outputs.size();
  }
  [[nodiscard]] bool WantsOutput(std::size_t index) const {
    return index < node_.outputs.size() && !node_.outputs[index].empty();
  }

  // Attributes. The forms without a default throw when there is none.
  [[nodiscard]] bool HasAttribute(std::string_view name) const;
  [[nodiscard]] std::int64_t Integer(std::string_view name) const;
  [[nodiscard]] std::int64_t Integer(std::string_view name,
                                     std::int64_t otherwise) const;
  [[nodiscard]] double Float(std::string_view name, double otherwise) const;
  [[nodiscard]] std::string String(std::string_view name,
                                   std::string_view otherwise) const;
  // Empty when absent.
  [[nodiscard]] std::vector<std::int64_t> Integers(std::string_view name) const;
  [[nodiscard]] std::vector<double> Floats(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> Strings(std::string_view name) const;
  // A tensor attribute, floating elements in the type the graph is computed in.
  [[nodiscard]] at::Tensor TensorAttribute(std::string_view name) const;
  [[nodiscard]] const Graph& GraphAttribute(std::string_view name) const;

  // An axis counted from either end → 0…rank-1.
  [[nodiscard]] static std::int64_t Axis(std::int64_t axis, std::int64_t rank);

  // The type in which values of an ONNX element type (TensorProto.DataType) are
  // held: the graph's floating type for float16, bfloat16, float and double.
  // Throws for types without a counterpart (strings, float8, 4-bit).
  [[nodiscard]] c10::ScalarType HeldType(std::int64_t onnx_type) const;
  // `tensor` in the graph's floating type when it is floating.
  [[nodiscard]] at::Tensor Held(const at::Tensor& tensor) const;
  [[nodiscard]] FloatingType floating() const { return floating_; }

  [[nodiscard]] std::vector<at::Tensor> EvaluateSubgraph(
      const Graph& graph, std::span<const at::Tensor> arguments) const {
    return evaluate_subgraph_(graph, arguments);
  }

 private:
  const Node& node_;
  std::int64_t opset_;
  FloatingType floating_;
  std::span<const at::Tensor> inputs_;
  SubgraphEvaluator evaluate_subgraph_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_OPERATOR_CONTEXT_H_
