#include <cstddef>
#include <format>
#include <optional>
#include <string>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/rules.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// The first value of the float64 graph that is not finite, though nothing it
// was computed from was.
std::string FirstNode(const Investigation& investigation) {
  if (investigation.graph64() == nullptr) return "";
  for (const TracedValue& value : investigation.graph64()->trace) {
    if (value.sketch.nonfinite_count > 0) return value.module;
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
