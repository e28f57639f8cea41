#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "diagnose/departure.h"
#include "diagnose/investigation.h"
#include "diagnose/rules.h"
#include "diagnose/value_alignment.h"
#include "graph/model.h"
#include "graph/subgraphs.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::string Join(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (text.empty() ? "" : ", ") + names[i];
  if (names.size() > most)
    text += std::format(" and {} more", names.size() - most);
  return text;
}

void AddDivergence(const Investigation& investigation, Finding& finding) {
  const std::optional<Divergence> divergence = FindDeparture(investigation);
  if (!divergence) return;
  investigation.Locate(finding, divergence->node);
  if (finding.module.empty()) finding.module = divergence->module;
  finding.evidence.push_back(
      {.name = "relative distance from the nearest reference value",
       .value = Text(divergence->distance)});
  if (!divergence->last_agreeing_value.empty())
    finding.evidence.push_back({.name = "last value that agrees",
                                .value = divergence->last_agreeing_value});
  if (divergence->region.size() > 1)
    finding.evidence.push_back(
        {.name = "nodes without a counterpart from there",
         .value = Join(divergence->region, 8)});
  if (!divergence->other_suspects.empty())
    finding.evidence.push_back({.name = "other suspects",
                                .value = Join(divergence->other_suspects, 8)});
}

bool Reaches(const Graph& graph, const std::string& input) {
  std::set<std::string> reached = {input};
  for (const Node& node : graph.nodes) {
    // What a subgraph uses is not looked into: it counts as used.
    const bool uses = !Subgraphs(node).empty() ||
                      std::ranges::any_of(node.inputs, [&](const auto& name) {
                        return reached.contains(name);
                      });
    if (uses) reached.insert(node.outputs.begin(), node.outputs.end());
  }
  return std::ranges::any_of(graph.outputs, [&](const ValueInfo& output) {
    return reached.contains(output.name);
  });
}

std::string UnusedInput(const Investigation& investigation) {
  for (const ValueInfo& input : investigation.graph().RequiredInputs()) {
    if (!Reaches(investigation.graph(), input.name)) return input.name;
  }
  return "";
}

bool TrainsInGraph(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) {
    if (node.op_type != "BatchNormalization") return false;
    const AttributeValue* const mode = node.FindAttribute("training_mode");
    const auto* const on =
        mode == nullptr ? nullptr : std::get_if<std::int64_t>(mode);
    return on != nullptr && *on != 0;
  });
}

// What the pattern of passing and failing cases says.
std::string SubKind(const Investigation& investigation,
                    const std::vector<CaseSummary>& cases) {
  if (const std::string input = UnusedInput(investigation); !input.empty())
    return std::format("input {} moves no output of the graph", input);
  if (TrainsInGraph(investigation.graph()))
    return "the graph normalises by the batch's own statistics: it was "
           "exported in training mode";
  const auto passed = [](const CaseSummary& entry) { return entry.passed; };
  if (std::ranges::none_of(cases, passed)) return "";
  const auto shape_passed = [&](const CaseSummary& failing) {
    return std::ranges::any_of(cases, [&](const CaseSummary& other) {
      return other.passed && other.input_shapes == failing.input_shapes;
    });
  };
  std::vector<CaseSummary> failing;
  std::ranges::copy_if(cases, std::back_inserter(failing),
                       [](const CaseSummary& entry) { return !entry.passed; });
  if (failing.empty()) return "";
  if (std::ranges::none_of(failing, shape_passed))
    return "right at other shapes: a value was baked in from the traced shape";
  return "right for other values of the same shape: a branch taken while "
         "tracing was baked in, or an edge case is missing";
}

}  // namespace

std::optional<Finding> ExamineExport(const Investigation& investigation,
                                     const std::vector<CaseSummary>& cases) {
  Finding finding =
      investigation.MakeFinding(Cause::kExport, Confidence::kCertain, "");
  AddDivergence(investigation, finding);
  finding.message =
      "the graph computes something else than the reference, in "
      "float64, too";
  if (!finding.node.empty())
    finding.message +=
        std::format(": first seen at {} ({})", finding.node, finding.op);
  if (std::string kind = SubKind(investigation, cases); !kind.empty()) {
    finding.message += "; " + kind;
    finding.evidence.push_back({.name = "kind", .value = std::move(kind)});
  }
  // A write through a view is what exporters lose most easily.
  for (const std::string& input : investigation.subject().changed_inputs)
    finding.evidence.push_back(
        {.name = "input that the reference changes while it runs",
         .value = input});
  for (std::size_t i = 0; i < investigation.budgets().size(); ++i) {
    const ErrorBudget& budget = investigation.budgets()[i];
    if (!budget.exported) continue;
    finding.evidence.push_back(
        {.name = "export error of " + investigation.subject().actual[i].name,
         .value =
             budget.exported->nonfinite_disagreements > 0
                 ? std::format("{} elements are not finite on one side only",
                               budget.exported->nonfinite_disagreements)
                 : Text(budget.exported->max)});
  }
  return finding;
}

}  // namespace parity
