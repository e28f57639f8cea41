// Operators that evaluate subgraphs.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <utility>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/tensor_bridge.h"
#include "graph/model.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;

bool Holds(const at::Tensor& condition) {
  return condition.reshape({}).item<bool>();
}

Tensors If(const OperatorContext& context) {
  const char* branch = Holds(context.Input(0)) ? "then_branch" : "else_branch";
  return context.EvaluateSubgraph(context.GraphAttribute(branch), {});
}

// What scan outputs of no iterations are made of: shape and type that the
// subgraph declares, as far as it does.
at::Tensor NoIterations(const OperatorContext& context, const ValueInfo& value,
                        std::int64_t axis) {
  std::vector<std::int64_t> shape;
  for (const Dimension& dimension :
       value.shape.value_or(std::vector<Dimension>()))
    shape.push_back(dimension.value.value_or(0));
  axis =
      OperatorContext::Axis(axis, static_cast<std::int64_t>(shape.size()) + 1);
  shape.insert(shape.begin() + axis, 0);
  const ScalarType type =
      value.dtype ? TorchDType(*value.dtype).value_or(ScalarType::Float)
                  : ScalarType::Float;
  return context.Held(at::empty(shape, at::TensorOptions(type)));
}

at::Tensor Stacked(const OperatorContext& context, const Tensors& values,
                   const ValueInfo& declared, std::int64_t axis) {
  return values.empty() ? NoIterations(context, declared, axis)
                        : at::stack(values, axis);
}

// Values carried from one iteration to the next, and one list of values for
// each scan output.
struct Iterations {
  Tensors carried;
  std::vector<Tensors> scanned;

  // Takes what an iteration gave, from `first` on.
  void Take(const Tensors& outputs, std::size_t first) {
    for (std::size_t i = 0; i < carried.size(); ++i)
      carried[i] = outputs[first + i];
    for (std::size_t i = 0; i < scanned.size(); ++i)
      scanned[i].push_back(outputs[first + carried.size() + i]);
  }
};

// Outputs of the subgraph that are neither conditions nor carried.
std::size_t ScanOutputs(const Graph& body, std::size_t others) {
  if (body.outputs.size() < others) {
    throw OperatorError(std::format("its subgraph gives {} values, not {}",
                                    body.outputs.size(), others));
  }
  return body.outputs.size() - others;
}

// The subgraph takes (iteration, condition, carried…) and gives (condition,
// carried…, scanned…).
Tensors Loop(const OperatorContext& context) {
  const Graph& body = context.GraphAttribute("body");
  const std::int64_t trips = context.HasInput(0)
                                 ? context.IntegersInput(0).at(0)
                                 : std::numeric_limits<std::int64_t>::max();
  bool is_going_on = !context.HasInput(1) || Holds(context.Input(1));
  Iterations iterations;
  for (std::size_t i = 2; i < context.input_count(); ++i)
    iterations.carried.push_back(context.OptionalInput(i));
  const std::size_t first_scanned = 1 + iterations.carried.size();
  iterations.scanned.resize(ScanOutputs(body, first_scanned));

  for (std::int64_t trip = 0; trip < trips && is_going_on; ++trip) {
    Tensors arguments = {
        at::full({}, trip, at::TensorOptions(ScalarType::Long)),
        at::full({}, true, at::TensorOptions(ScalarType::Bool))};
    arguments.insert(arguments.end(), iterations.carried.begin(),
                     iterations.carried.end());
    const Tensors outputs = context.EvaluateSubgraph(body, arguments);
    is_going_on = Holds(outputs[0]);
    iterations.Take(outputs, 1);
  }
  Tensors results = std::move(iterations.carried);
  for (std::size_t i = 0; i < iterations.scanned.size(); ++i) {
    results.push_back(Stacked(context, iterations.scanned[i],
                              body.outputs[first_scanned + i], 0));
  }
  return results;
}

// Element `index` of an attribute with one number for each of something.
std::int64_t ElementOr0(const std::vector<std::int64_t>& values,
                        std::size_t index) {
  return index < values.size() ? values[index] : 0;
}

// The subgraph takes (state…, elements…) and gives (state…, scanned…).
Tensors Scan(const OperatorContext& context) {
  if (context.opset() < 9)
    throw OperatorError("Scan before opset 9 cannot be evaluated");
  const Graph& body = context.GraphAttribute("body");
  const auto inputs =
      static_cast<std::size_t>(context.Integer("num_scan_inputs"));
  if (inputs == 0 || inputs > context.input_count())
    throw OperatorError(std::format("num_scan_inputs is {}", inputs));
  const auto input_axes = context.Integers("scan_input_axes");
  const auto input_directions = context.Integers("scan_input_directions");
  const auto output_axes = context.Integers("scan_output_axes");
  const auto output_directions = context.Integers("scan_output_directions");

  Iterations iterations;
  const std::size_t states = context.input_count() - inputs;
  for (std::size_t i = 0; i < states; ++i)
    iterations.carried.push_back(context.Input(i));
  iterations.scanned.resize(ScanOutputs(body, states));
  Tensors sequences;  // along their first axis, in the order they are read
  for (std::size_t i = 0; i < inputs; ++i) {
    const at::Tensor& x = context.Input(states + i);
    if (x.dim() == 0) throw OperatorError("a sequence is a scalar");
    const at::Tensor sequence =
        x.movedim(OperatorContext::Axis(ElementOr0(input_axes, i), x.dim()), 0);
    sequences.push_back(ElementOr0(input_directions, i) != 0 ? sequence.flip(0)
                                                             : sequence);
    if (sequences.back().size(0) != sequences.front().size(0))
      throw OperatorError("sequences differ in length");
  }
  for (std::int64_t i = 0; i < sequences.front().size(0); ++i) {
    Tensors arguments = iterations.carried;
    for (const at::Tensor& sequence : sequences)
      arguments.push_back(sequence.select(0, i));
    iterations.Take(context.EvaluateSubgraph(body, arguments), 0);
  }
  Tensors results = std::move(iterations.carried);
  for (std::size_t i = 0; i < iterations.scanned.size(); ++i) {
    if (ElementOr0(output_directions, i) != 0)
      std::ranges::reverse(iterations.scanned[i]);
    results.push_back(Stacked(context, iterations.scanned[i],
                              body.outputs[states + i],
                              ElementOr0(output_axes, i)));
  }
  return results;
}

}  // namespace

void AddControlFlowOperators(OperatorTable& table) {
  table["If"] = If;
  table["Loop"] = Loop;
  table["Scan"] = Scan;
}

}  // namespace parity
