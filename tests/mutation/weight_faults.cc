// Faults of numbers: weights, biases, constants.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/splitmix.h"
#include "fault_planting.h"
#include "fault_sites.h"
#include "graph/model.h"
#include "graph_edits.h"
#include "graph_facts.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Elements = std::vector<double>;
// Changes the elements and says how; empty when nothing would change.
using Edit = std::function<std::string(Elements&, const SplitMixStream&)>;

// Places in the stream of random numbers.
constexpr std::uint64_t kFirstPick = 10;
constexpr std::uint64_t kSecondPick = 11;

std::size_t Pick(const SplitMixStream& random, std::uint64_t place,
                 std::size_t count) {
  return static_cast<std::size_t>(random.Bits(place) % count);
}

// A site that edits a constant input of a node.
FaultSite EditSite(const Node& node, std::size_t index, std::size_t input,
                   Edit edit) {
  return {.node = index,
          .value = node.outputs[0],
          .plant = [index, input, name = node.inputs[input],
                    edit = std::move(edit)](PlantedFault& fault,
                                            const SplitMixStream& random) {
            std::string done;
            EditConstant(fault.model.graph, index, input,
                         [&](Elements& elements) {
                           const Elements before = elements;
                           done = edit(elements, random);
                           if (elements == before) done.clear();
                         });
            fault.description = std::format("'{}' {}", name, done);
            return !done.empty();
          }};
}

// A tensor as slices along one axis.
struct Slices {
  std::size_t outer = 1;
  std::size_t count = 1;
  std::size_t inner = 1;

  Slices(const Shape& shape, std::size_t axis) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const auto size = static_cast<std::size_t>(shape[i]);
      (i < axis ? outer : i == axis ? count : inner) *= size;
    }
  }

  void ForEach(std::size_t slice,
               const std::function<void(std::size_t)>& visit) const {
    for (std::size_t o = 0; o < outer; ++o) {
      for (std::size_t i = 0; i < inner; ++i)
        visit((o * count + slice) * inner + i);
    }
  }
};

// Of a slice that is not all zeros, from a random one on; `count` if none is.
std::size_t NonZeroSlice(const Elements& elements, const Slices& slices,
                         const SplitMixStream& random) {
  for (std::size_t k = 0; k < slices.count; ++k) {
    const std::size_t slice =
        (Pick(random, kFirstPick, slices.count) + k) % slices.count;
    bool is_zero = true;
    slices.ForEach(
        slice, [&](std::size_t i) { is_zero = is_zero && elements[i] == 0; });
    if (!is_zero) return slice;
  }
  return slices.count;
}

Edit ScaleSlice(Slices slices, double factor, std::string_view what) {
  return
      [slices, factor, what](Elements& elements, const SplitMixStream& random) {
        const std::size_t slice = NonZeroSlice(elements, slices, random);
        if (slice == slices.count) return std::string();
        slices.ForEach(slice, [&](std::size_t i) { elements[i] *= factor; });
        return std::format("{} {} × {}", what, slice, factor);
      };
}

Edit SwapSlices(Slices slices) {
  return [slices](Elements& elements, const SplitMixStream& random) {
    if (slices.count < 2) return std::string();
    const std::size_t a = NonZeroSlice(elements, slices, random);
    if (a == slices.count) return std::string();
    const std::size_t b =
        (a + 1 + Pick(random, kSecondPick, slices.count - 1)) % slices.count;
    const std::size_t step = slices.inner;
    slices.ForEach(a, [&](std::size_t i) {
      std::swap(elements[i], elements[i - a * step + b * step]);
    });
    return std::format("input channels {} and {} swapped", a, b);
  };
}

std::string ScaleAll(Elements& elements, const SplitMixStream&) {
  for (double& element : elements) element *= 1.01;
  return "× 1.01";
}

std::string ShiftOne(Elements& elements, const SplitMixStream& random) {
  if (elements.empty()) return "";
  const std::size_t i = Pick(random, kFirstPick, elements.size());
  elements[i] += 0.5;
  return std::format("element {} + 0.5", i);
}

std::string ShiftAll(Elements& elements, const SplitMixStream&) {
  for (double& element : elements) element += 0.1;
  return "+ 0.1";
}

// Which axes of a weight are the layer's outputs and inputs.
struct WeightAxes {
  std::size_t output;
  std::size_t input;
};

WeightAxes AxesOf(const Node& node) {
  const bool is_flipped =
      node.op_type == "Conv" ||
      (node.op_type == "Gemm" && IntegerOr(node, "transB", 0) != 0);
  return is_flipped ? WeightAxes{.output = 0, .input = 1}
                    : WeightAxes{.output = 1, .input = 0};
}

bool IsLayer(const Node& node) {
  return node.op_type == "Conv" || node.op_type == "ConvTranspose" ||
         node.op_type == "MatMul" || node.op_type == "Gemm";
}

const Tensor* FloatConstant(const Node& node, std::size_t input,
                            const GraphFacts& facts) {
  if (input >= node.inputs.size()) return nullptr;
  const Tensor* const tensor = facts.AnyConstantOf(node.inputs[input]);
  return tensor != nullptr && IsFloating(tensor->dtype()) ? tensor : nullptr;
}

void AddWeightSites(const Node& node, std::size_t index, const Tensor& weight,
                    FaultSites& sites) {
  const WeightAxes axes = AxesOf(node);
  const Slices outputs(weight.shape(), axes.output);
  const Slices inputs(weight.shape(), axes.input);
  const auto add = [&](const std::string& way, Edit edit) {
    sites[way].push_back(EditSite(node, index, 1, std::move(edit)));
  };
  add("all scaled", ScaleAll);
  add("one output channel scaled", ScaleSlice(outputs, 1.1, "output channel"));
  add("one filter zero", ScaleSlice(outputs, 0, "filter"));
  add("one element shifted", ShiftOne);
  if (inputs.count > 1) add("input channels swapped", SwapSlices(inputs));
}

// Bounds of a Clip, with the input that gives them.
std::string MoveBound(Elements& elements, bool is_low) {
  if (elements.size() != 1) return "";
  const double old = elements[0];
  if (!std::isfinite(old)) return "";
  // Towards the inside, where the values are.
  const double step = std::max(std::abs(old) * 0.1, 0.05);
  elements[0] = is_low ? old + step : old - step;
  return std::format("{} → {}", old, elements[0]);
}

void AddBoundSites(const Node& node, std::size_t index, const GraphFacts& facts,
                   FaultSites& sites) {
  for (const std::size_t input : {1U, 2U}) {
    if (FloatConstant(node, input, facts) == nullptr) continue;
    sites["clip bound"].push_back(EditSite(
        node, index, input,
        [is_low = input == 1](Elements& elements, const SplitMixStream&) {
          return MoveBound(elements, is_low);
        }));
  }
  for (const std::string_view name : {"min", "max"}) {
    const AttributeValue* const value = node.FindAttribute(name);
    if (value == nullptr) continue;
    sites["clip bound"].push_back(
        {.node = index,
         .value = node.outputs[0],
         .plant = [index, name](PlantedFault& fault, const SplitMixStream&) {
           Node& changed = fault.model.graph.nodes[index];
           Elements bound = {FloatOr(changed, name, 0)};
           const std::string moved = MoveBound(bound, name == "min");
           fault.description = std::format("{} {}", name, moved);
           SetAttribute(changed, name, static_cast<float>(bound[0]));
           return !moved.empty();
         }});
  }
}

std::string MoveThreshold(Elements& elements, const SplitMixStream&) {
  if (elements.size() != 1) return "";
  const double old = elements[0];
  elements[0] += std::max(std::abs(old) * 0.2, 0.05);
  return std::format("{} → {}", old, elements[0]);
}

// Small operands of arithmetic, not weights.
std::string ScaleConstant(Elements& elements, const SplitMixStream& random) {
  if (elements.empty()) return "";
  const std::size_t i = Pick(random, kFirstPick, elements.size());
  elements[i] = elements[i] == 0 ? 0.05 : elements[i] * 1.01;
  return std::format("element {} × 1.01", i);
}

bool IsArithmetic(const Node& node) {
  return node.op_type == "Mul" || node.op_type == "Div" ||
         node.op_type == "Add" || node.op_type == "Sub" ||
         node.op_type == "Pow" || node.op_type == "Max" ||
         node.op_type == "Min" || node.op_type == "PRelu";
}

bool IsComparison(const Node& node) {
  return node.op_type == "Greater" || node.op_type == "Less" ||
         node.op_type == "GreaterOrEqual" || node.op_type == "LessOrEqual";
}

}  // namespace

FaultSites WeightSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    const Tensor* const constant = FloatConstant(node, 1, facts);
    if (constant == nullptr) continue;
    if (IsLayer(node) && constant->shape().size() >= 2 &&
        (node.op_type != "MatMul" || constant->shape().size() == 2))
      AddWeightSites(node, index, *constant, sites);
    if (node.op_type == "BatchNormalization") {
      sites["normalisation scale"].push_back(
          EditSite(node, index, 1,
                   ScaleSlice(Slices(constant->shape(), 0), 1.1, "channel")));
    }
  }
  return sites;
}

FaultSites BiasSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    const bool is_layer = IsLayer(node) && node.op_type != "MatMul";
    if ((is_layer || node.op_type == "BatchNormalization") &&
        FloatConstant(node, 2, facts) != nullptr) {
      sites["shifted"].push_back(EditSite(node, index, 2, ShiftAll));
    }
    const Tensor* const bias =
        is_layer ? FloatConstant(node, 2, facts) : nullptr;
    if (bias == nullptr) continue;
    sites["dropped"].push_back(
        {.node = index,
         .value = node.outputs[0],
         .plant = [index, bias](PlantedFault& fault, const SplitMixStream&) {
           Node& changed = fault.model.graph.nodes[index];
           fault.description = std::format("'{}' dropped", changed.inputs[2]);
           changed.inputs.resize(2);
           return std::ranges::any_of(FloatElements(*bias),
                                      [](double value) { return value != 0; });
         }});
  }
  return sites;
}

FaultSites ConstantSites(const Model& model, const GraphFacts& facts) {
  constexpr std::int64_t kLargest = 16;
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    if (node.op_type == "Clip") AddBoundSites(node, index, facts, sites);
    if (!IsArithmetic(node) && !IsComparison(node)) continue;
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const Tensor* const constant = FloatConstant(node, input, facts);
      if (constant == nullptr || constant->element_count() > kLargest) continue;
      const bool is_threshold = IsComparison(node);
      sites[is_threshold ? "threshold" : "operand"].push_back(
          EditSite(node, index, input,
                   is_threshold ? Edit(MoveThreshold) : Edit(ScaleConstant)));
    }
  }
  return sites;
}

}  // namespace parity
