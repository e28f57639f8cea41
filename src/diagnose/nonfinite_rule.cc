#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/rules.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

bool IsFinite(const NamedTensor& entry) {
  return SketchOf(entry.tensor.view()).nonfinite_count == 0;
}

// The first value of the float64 graph that is not finite, though nothing it
// was computed from was. Infinities on the way to finite outputs are meant:
// masks.
std::string FirstNode(const Investigation& investigation) {
  const RunResult* const graph = investigation.graph64();
  if (graph == nullptr || std::ranges::all_of(graph->outputs, IsFinite) ||
      !std::ranges::all_of(investigation.subject().request.inputs, IsFinite))
    return "";
  for (const TracedValue& value : graph->trace) {
    if (value.sketch.nonfinite_count > 0) return NodeLabel(value);
  }
  return "";
}

}  // namespace

std::optional<Finding> ExamineNonFinite(const Investigation& investigation) {
  const Subject& subject = investigation.subject();
  std::string text;
  bool one_sided = false;
  for (std::size_t i = 0; i < subject.actual.size(); ++i) {
    const auto comparison = Compare(
        subject.expected[i].tensor.view(), subject.actual[i].tensor.view(),
        {.atol = 0, .rtol = 0, .equal_nonfinite = true});
    if (!comparison) continue;
    const std::int64_t expected = comparison->expected_nonfinite.total();
    const std::int64_t actual = comparison->actual_nonfinite.total();
    if (expected == 0 && actual == 0) continue;
    one_sided = one_sided || comparison->nonfinite_disagreements > 0;
    text += std::format(
        "{}{} has {} such values in the reference and {} in "
        "the candidate",
        text.empty() ? "" : ", ", subject.actual[i].name, expected, actual);
  }
  if (text.empty()) return std::nullopt;
  Finding finding = investigation.MakeFinding(
      Cause::kNonFinite, one_sided ? Confidence::kLikely : Confidence::kCertain,
      std::format("{}: {}",
                  one_sided ? "NaN or infinity on one side only"
                            : "NaN or infinity on both sides, at the same "
                              "places",
                  text));
  finding.fails = one_sided;
  if (std::string node = FirstNode(investigation); !node.empty())
    investigation.Locate(finding, node);
  return finding;
}

}  // namespace parity
