// Computes ONNX graphs with libtorch's operators, one node after another: in
// float64 the oracle that a runtime is held against.
//
// Every operator follows the ONNX operator specification for the opset the
// model imports (7 to 22); integers stay integers. With a floating type given,
// every floating value is held in it, whatever type the graph declares: casts
// between floating types keep the value.
#ifndef PARITY_BACKEND_TORCH_ONNX_GRAPH_EVALUATOR_H_
#define PARITY_BACKEND_TORCH_ONNX_GRAPH_EVALUATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/onnx/operator_context.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

class GraphEvaluator {
 public:
  GraphEvaluator(Model model, FloatingType floating);
  ~GraphEvaluator();
  GraphEvaluator(GraphEvaluator&&) noexcept;
  GraphEvaluator& operator=(GraphEvaluator&&) noexcept;

  // "Upsample3D", "com.microsoft.FusedConv": operators of the main graph and
  // its subgraphs that cannot be evaluated. A node of one raises an error only
  // when its value is needed.
  [[nodiscard]] std::vector<std::string> UnknownOperators() const;

  // Computes the values named in `outputs` (any of the main graph; empty = the
  // graph's outputs) from the values in `given`.
  //
  // `given` may name any value of the main graph, not only inputs: its node is
  // then not evaluated, except for a value that is wanted, too, which is always
  // computed by its own node. So a node's value can be computed from exactly
  // its own inputs, and a selection can be pinned. Nodes that no wanted value
  // needs are not evaluated; a value is released after its last use.
  //
  // With `trace`, every value of the main graph that is computed is described
  // to it, in order. Errors: kNotFound for unknown names, kIncompatible for
  // inputs that are missing, kUnsupported naming node and operator, kBackend
  // naming the node with libtorch's text.
  using Tracer = std::function<void(TracedValue)>;
  [[nodiscard]] Result<NamedTensors> Evaluate(
      const NamedTensors& given, const std::vector<std::string>& outputs,
      const Tracer& trace = nullptr) const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_GRAPH_EVALUATOR_H_
