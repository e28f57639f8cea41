#include "diagnose/value_standing.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/backend.h"
#include "diagnose/module_path.h"
#include "diagnose/operator_kinds.h"
#include "diagnose/reference_values.h"
#include "graph/model.h"
#include "graph/subgraphs.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

using Names = std::unordered_set<std::string_view>;

constexpr double kNear = 10;

void CollectUses(const Graph& graph, Names defined,
                 std::vector<std::string_view>& uses);

void CollectUses(const Node& node, const Names& defined,
                 std::vector<std::string_view>& uses) {
  for (const std::string& input : node.inputs) {
    if (!input.empty() && !defined.contains(input)) uses.emplace_back(input);
  }
  for (const Graph* const graph : Subgraphs(node))
    CollectUses(*graph, defined, uses);
}

// By value: what a subgraph defines is unknown outside it.
void CollectUses(const Graph& graph, Names defined,
                 std::vector<std::string_view>& uses) {
  for (const ValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const Initializer& initializer : graph.initializers)
    defined.insert(initializer.name);
  for (const Node& node : graph.nodes) {
    CollectUses(node, defined, uses);
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueInfo& output : graph.outputs) {
    if (!defined.contains(output.name)) uses.emplace_back(output.name);
  }
}

// Operators whose outputs tell of shapes alone.
bool IsOfShape(const Node& node) {
  return node.op_type == "Shape" || node.op_type == "Size";
}

// Operators that may give the same elements in another order than PyTorch does,
// without being wrong.
bool MayReorder(const Node& node) {
  return node.op_type == "TopK" || node.op_type == "Unique" ||
         node.op_type == "NonMaxSuppression";
}

bool IsKnownToTorch(std::string_view onnx_op) {
  // Those that only exporters make have no counterpart to ask for.
  return onnx_op != "Identity" && onnx_op != "ConstantOfShape" &&
         onnx_op != "Unsqueeze" && onnx_op != "Squeeze" &&
         onnx_op != "Reshape" && onnx_op != "Expand" && onnx_op != "Cast" &&
         onnx_op != "Transpose" && onnx_op != "If" && onnx_op != "Loop" &&
         onnx_op != "Scan";
}

}  // namespace

std::vector<std::string_view> UsedValues(const Node& node) {
  std::vector<std::string_view> uses;
  CollectUses(node, {}, uses);
  std::vector<std::string_view> once;
  for (const std::string_view use : uses) {
    if (!std::ranges::contains(once, use)) once.push_back(use);
  }
  return once;
}

ValueStandings::ValueStandings(const Graph& graph,
                               const ReferenceValues& reference,
                               std::span<const TracedValue> candidate,
                               double tolerance)
    : reference_(reference),
      tolerance_(tolerance),
      matched_(reference.size(), false) {
  std::unordered_map<std::string_view, const TracedValue*> traces;
  for (const TracedValue& value : candidate) traces.emplace(value.name, &value);
  AddConstantsAndInputs(graph);
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const Node& node = graph.nodes[index];
    const Origin origin = OriginOf(node);
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      ValueState state = {.name = output,
                          .node = static_cast<std::ptrdiff_t>(index)};
      const auto found = traces.find(output);
      Classify(node, origin, found == traces.end() ? nullptr : found->second,
               state);
      states_.insert_or_assign(output, state);
    }
  }
}

void ValueStandings::AddConstantsAndInputs(const Graph& graph) {
  for (const ValueInfo& input : graph.inputs) {
    ValueState state = {.name = input.name, .standing = Standing::kExplained};
    for (std::size_t place = 0; place < reference_.input_count(); ++place) {
      if (reference_[place].name != input.name) continue;
      state.place = static_cast<std::ptrdiff_t>(place);
      state.sketch = &reference_[place].sketch;
      matched_[place] = true;
    }
    states_.insert_or_assign(input.name, state);
  }
  for (const Initializer& initializer : graph.initializers) {
    states_.insert_or_assign(
        initializer.name,
        ValueState{.name = initializer.name, .standing = Standing::kNeutral});
  }
}

const ValueState* ValueStandings::Find(std::string_view name) const {
  const auto found = states_.find(name);
  return found == states_.end() ? nullptr : &found->second;
}

ValueStandings::Origin ValueStandings::OriginOf(const Node& node) const {
  Origin origin;
  for (const std::string_view name : UsedValues(node)) {
    const ValueState* const state = Find(name);
    if (state == nullptr || state->standing == Standing::kNeutral) continue;
    origin.neutral = false;
    origin.place = std::max(origin.place, state->place);
    if (state->standing == Standing::kUnexplained) origin.explained = false;
    if (state->standing == Standing::kPermuted) origin.permuted = true;
    if (state->reordered) origin.reordered = true;
  }
  if (IsOfShape(node)) origin.neutral = true;
  return origin;
}

void ValueStandings::Classify(const Node& node, const Origin& origin,
                              const TracedValue* traced, ValueState& state) {
  if (traced != nullptr) state.sketch = &traced->sketch;
  state.place = origin.place;
  if (origin.neutral) {
    state.standing = Standing::kNeutral;
    state.place = -1;
    return;
  }
  // Complex values and the like have a shape but no elements in their sketch;
  // beyond double's range the sums say nothing.
  const bool is_told = traced != nullptr &&
                       std::isfinite(traced->sketch.norm) &&
                       (traced->sketch.element_count > 0 ||
                        std::ranges::contains(traced->shape, 0));
  if (!is_told) {
    if (origin.explained) state.standing = Standing::kExplained;
    return;
  }
  const bool weak = IsWeak(traced->sketch);
  for (const std::size_t place : reference_.Equal(traced->sketch, tolerance_)) {
    if (!weak || (origin.explained && ExplainsWeak(node, state.name, place)))
      Settle(Standing::kExplained, place, state);
  }
  if (state.standing == Standing::kUnexplained)
    ClassifyReordered(node, origin, *traced, state);
}

void ValueStandings::ClassifyReordered(const Node& node, const Origin& origin,
                                       const TracedValue& traced,
                                       ValueState& state) {
  const std::vector<std::size_t> permuted =
      reference_.Permuted(traced.sketch, tolerance_);
  std::vector<std::size_t> filled_up;
  if (permuted.empty() && !IsTwoValued(traced.sketch))
    filled_up = reference_.WithoutZeros(traced.sketch, tolerance_);
  if (!origin.reordered) {
    for (const std::size_t place : permuted) {
      if (ExplainsPermuted(node, traced, origin, place))
        Settle(Standing::kPermuted, place, state);
    }
    for (const std::size_t place : filled_up)
      Settle(Standing::kPermuted, place, state);
  }
  state.reordered = state.standing == Standing::kUnexplained &&
                    (!permuted.empty() || !filled_up.empty());
}

// The first place counts, but all are matched.
void ValueStandings::Settle(Standing standing, std::size_t place,
                            ValueState& state) {
  if (state.standing == Standing::kUnexplained)
    state.place = static_cast<std::ptrdiff_t>(place);
  state.standing = standing;
  matched_[place] = true;
}

bool ValueStandings::ExplainsWeak(const Node& node, std::string_view value,
                                  std::size_t place) const {
  const TracedValue& match = reference_[place];
  if (!IsKnownToTorch(node.op_type) || IsCounterpart(node.op_type, match.op))
    return true;
  const std::string module =
      ModulePathOf(node.name.empty() ? value : std::string_view(node.name));
  return !module.empty() && module == match.module;
}

bool ValueStandings::ExplainsPermuted(const Node& node,
                                      const TracedValue& traced,
                                      const Origin& origin,
                                      std::size_t place) const {
  const TracedValue& match = reference_[place];
  if (MayReorder(node)) return true;
  // Small errors nearly cancel out in sums: the same order, slightly wrong.
  // Uncorrelated ones of relative size e change the norm by e²/2.
  if (RelativeDistance(match.sketch, traced.sketch) <
      kNear * std::sqrt(tolerance_))
    return false;
  if (origin.permuted) return true;
  if (node.op_type == "Transpose")
    return traced.shape != match.shape || !IsCounterpart("Transpose", match.op);
  return traced.shape != match.shape && !IsTwoValued(traced.sketch);
}

}  // namespace parity
