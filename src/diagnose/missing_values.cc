#include "diagnose/missing_values.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "diagnose/module_path.h"
#include "diagnose/operator_kinds.h"
#include "diagnose/reference_values.h"
#include "diagnose/value_standing.h"
#include "graph/model.h"

namespace parity {
namespace {

// Operators whose output is their input in another form.
bool KeepsNumbers(const Node& node) {
  constexpr std::string_view kOperators[] = {
      "Identity", "Dropout", "Reshape",   "Flatten",  "Squeeze",
      "Expand",   "Cast",    "Unsqueeze", "Transpose"};
  return std::ranges::contains(kOperators, node.op_type);
}

bool HasAsManyElements(const ValueState& value, const TracedValue& other) {
  return value.sketch == nullptr ||
         value.sketch->element_count == other.sketch.element_count;
}

}  // namespace

std::string LabelOf(const Graph& graph, const ValueState& value) {
  if (value.node < 0) return "";
  const std::string& name =
      graph.nodes[static_cast<std::size_t>(value.node)].name;
  return name.empty() ? std::string(value.name) : name;
}

// Values of the reference that the graph lacks, with as many elements as
// `value`, soon after what it is computed from.
MissingValues::Values MissingValues::After(const ValueState& value) const {
  constexpr std::size_t kWindow = 4;
  Values missing;
  const auto begin = static_cast<std::size_t>(value.place + 1);
  for (std::size_t place = std::max(begin, reference_.input_count());
       place < reference_.size() && missing.size() < kWindow; ++place) {
    if (!standings_.IsMatched(place) &&
        HasAsManyElements(value, reference_[place]))
      missing.push_back(&reference_[place]);
  }
  return missing;
}

MissingValues::Values MissingValues::OfModule(std::string_view module) const {
  Values missing;
  if (module.empty()) return missing;
  for (std::size_t place = reference_.input_count(); place < reference_.size();
       ++place) {
    if (!standings_.IsMatched(place) && reference_[place].module == module)
      missing.push_back(&reference_[place]);
  }
  return missing;
}

const TracedValue* MissingValues::FirstOfKind(const ValueState& value,
                                              const Values& values) const {
  const std::string& op =
      graph_.nodes[static_cast<std::size_t>(value.node)].op_type;
  const auto found =
      std::ranges::find_if(values, [&](const TracedValue* candidate) {
        return IsCounterpart(op, candidate->op);
      });
  return found == values.end() ? nullptr : *found;
}

PlaceJudgement MissingValues::Judge(const ValueState& value) const {
  PlaceJudgement judgement;
  const auto settle = [&](PlaceEvidence evidence, const TracedValue* missing) {
    if (missing == nullptr || judgement.evidence >= evidence) return;
    judgement = {.evidence = evidence, .missing = missing};
  };
  const Values of_module = OfModule(ModulePathOf(LabelOf(graph_, value)));
  const Values after = After(value);
  settle(PlaceEvidence::kModuleOperator, FirstOfKind(value, of_module));
  settle(PlaceEvidence::kOperator, FirstOfKind(value, after));
  // The last of a module's values is what leaves it.
  if (!of_module.empty()) settle(PlaceEvidence::kModule, of_module.back());
  if (judgement.missing == nullptr && !after.empty())
    judgement.missing = after.front();
  return judgement;
}

bool MissingValues::IsMisplaced(const ValueState& value) const {
  if (value.node < 0) return false;
  const Node& node = graph_.nodes[static_cast<std::size_t>(value.node)];
  if (KeepsNumbers(node)) return false;
  const std::string module = ModulePathOf(LabelOf(graph_, value));
  const TracedValue* const missing = FirstOfKind(value, OfModule(module));
  if (missing == nullptr || !HasAsManyElements(value, *missing) ||
      value.place < 0)
    return false;
  const TracedValue& match = reference_[static_cast<std::size_t>(value.place)];
  // A module may be called again: what is missing is of another call.
  if (match.module == module) return false;
  // Either the same operator of another module, or a value that its inputs are
  // or come from. Other values that come later in the reference are of
  // operators that were folded together.
  if (match.op == missing->op) return true;
  std::ptrdiff_t inputs = -1;
  for (const std::string_view name : UsedValues(node)) {
    if (const ValueState* const input = standings_.Find(name))
      inputs = std::max(inputs, input->place);
  }
  return value.place <= inputs;
}

}  // namespace parity
