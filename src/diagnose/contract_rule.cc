#include <algorithm>
#include <cstddef>
#include <format>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/departure.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/noise_model.h"
#include "diagnose/rules.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

bool Agree(const Tensor& expected, const Tensor& actual,
           const ErrorBudget& budget) {
  return expected.shape() == actual.shape() &&
         Within(SizeOfError(expected, actual),
                {.rms = budget.noise_rms, .max = budget.noise_max});
}

// A permutation under which every pair agrees and that moves something:
// entry i of `actual` belongs to entry order[i] of `expected`, the first that
// fits and is not taken.
std::optional<std::vector<std::size_t>> FindPermutation(
    const Investigation& investigation) {
  const Subject& subject = investigation.subject();
  const std::size_t count = subject.actual.size();
  std::vector<std::size_t> order(count);
  std::vector<bool> taken(count, false);
  bool moves = false;
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<std::size_t> found;
    for (std::size_t offset = 0; offset < count && !found; ++offset) {
      const std::size_t j = (i + offset) % count;
      if (!taken[j] &&
          Agree(subject.expected[j].tensor, subject.actual[i].tensor,
                investigation.budgets()[j]))
        found = j;
    }
    if (!found) return std::nullopt;
    order[i] = *found;
    taken[*found] = true;
    moves = moves || *found != i;
  }
  if (!moves) return std::nullopt;
  return order;
}

std::string DescribeSwap(const Subject& subject,
                         const std::vector<std::size_t>& order) {
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == i) continue;
    text += std::format("{}output {} of the graph is the reference's {}",
                        text.empty() ? "" : ", ", subject.actual[i].name,
                        subject.actual[order[i]].name);
  }
  return text;
}

// Where a value with the numbers of the reference's output first has another
// shape.
std::string NodeOfShape(const Investigation& investigation) {
  const Subject& subject = investigation.subject();
  if (investigation.graph64() == nullptr) return "";
  for (std::size_t i = 0; i < subject.actual.size(); ++i) {
    const Tensor& expected = subject.expected[i].tensor;
    if (expected.shape() == subject.actual[i].tensor.shape()) continue;
    const ValueSketch sketch = SketchOf(expected.view());
    for (const TracedValue& value : investigation.graph64()->trace) {
      constexpr double kSame = 1e-5;  // float32 against float64
      if (value.shape != expected.shape() &&
          RelativeDistance(value.sketch, sketch) < kSame)
        return NodeLabel(value);
    }
    for (const Node& node : investigation.graph().nodes) {
      if (std::ranges::contains(node.outputs, subject.actual[i].name))
        return NodeLabel(node);
    }
  }
  return "";
}

// Two inputs of equal shape, given to the graph the other way round. Only where
// something is wrong: a graph that treats both alike would agree either way.
std::optional<Finding> ExamineSwappedInputs(
    const Investigation& investigation) {
  const NamedTensors& inputs = investigation.subject().request.inputs;
  constexpr std::size_t kMostInputs = 6;
  if (inputs.size() < 2 || inputs.size() > kMostInputs ||
      investigation.WrongOutputs().empty() || !MayDepartAtInputs(investigation))
    return std::nullopt;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = i + 1; j < inputs.size(); ++j) {
      if (inputs[i].tensor.shape() != inputs[j].tensor.shape() ||
          inputs[i].tensor.dtype() != inputs[j].tensor.dtype())
        continue;
      RunRequest swapped{.inputs = inputs};
      std::swap(swapped.inputs[i].tensor, swapped.inputs[j].tensor);
      const auto run = investigation.lab().Graph64(swapped);
      if (!run) continue;
      const Agreement agreement =
          investigation.Compare(investigation.subject().expected, run->outputs);
      if (!agreement.agrees) continue;
      Finding finding = investigation.MakeFinding(
          Cause::kContract, Confidence::kCertain,
          std::format("inputs {} and {} are swapped: fed the other way round, "
                      "the graph gives the reference's outputs",
                      inputs[i].name, inputs[j].name));
      finding.evidence.push_back(
          {.name = "max difference with the inputs swapped",
           .value = Text(agreement.max_error)});
      return finding;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> ExamineContract(const Investigation& investigation) {
  const Subject& subject = investigation.subject();
  if (!subject.contract_failures.empty()) {
    Finding finding = investigation.MakeFinding(
        Cause::kContract, Confidence::kCertain, subject.contract_failures[0]);
    for (const std::string& failure : subject.contract_failures)
      finding.evidence.push_back({.name = "broken promise", .value = failure});
    if (std::string node = NodeOfShape(investigation); !node.empty())
      investigation.Locate(finding, node);
    return finding;
  }
  if (const auto order = FindPermutation(investigation)) {
    return investigation.MakeFinding(
        Cause::kContract, Confidence::kCertain,
        "outputs are swapped: " + DescribeSwap(subject, *order));
  }
  return ExamineSwappedInputs(investigation);
}

}  // namespace parity
