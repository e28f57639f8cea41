// What the records of a validation add up to: the verdict and its reasons.
#include <algorithm>
#include <cstddef>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/validation.h"

namespace parity {
namespace {

std::string Describe(const OutputResult& output) {
  const Comparison& comparison = *output.comparison;
  if (comparison.nonfinite_disagreements > 0) {
    return std::format(
        "{} has NaN or infinity on one side only at {} of {} elements",
        output.name, comparison.nonfinite_disagreements,
        comparison.element_count);
  }
  if (output.criterion == Criterion::kNoise && output.budget &&
      output.budget->verdict == NoiseVerdict::kBeyond) {
    return std::format("{} differs by {:.3g}, {:.0f} × what rounding explains",
                       output.name, comparison.max_abs_error,
                       output.budget->TimesNoise());
  }
  return std::format(
      "{} differs by {:.3g} (limit {:g}{})", output.name,
      comparison.max_abs_error, output.tolerance.atol,
      output.tolerance.rtol > 0
          ? std::format(" + {:g}·|reference|", output.tolerance.rtol)
          : "");
}

// Outputs that had no elements in any case, so that no verdict covers them.
std::vector<std::string> NeverCompared(const std::vector<CaseResult>& cases) {
  std::vector<std::string> names;
  std::vector<std::string> compared;
  for (const CaseResult& result : cases) {
    for (const OutputResult& output : result.outputs) {
      const bool has_elements =
          output.comparison && output.comparison->element_count > 0;
      if (has_elements) compared.push_back(output.name);
      if (!std::ranges::contains(names, output.name))
        names.push_back(output.name);
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::contains(compared, name);
  });
  return names;
}

}  // namespace

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kUndecided:
      break;
  }
  return "error";
}

bool OutputResult::passed() const {
  if (!contract_failures.empty() || !comparison) return false;
  if (excused_as_tie) return true;
  if (criterion == Criterion::kNoise && budget &&
      budget->verdict != NoiseVerdict::kUnknown)
    return budget->verdict == NoiseVerdict::kWithin;
  return comparison->mismatch_count == 0;
}

std::optional<double> CaseResult::candidate_steady_ms() const {
  if (candidate_repeat_ms.empty()) return std::nullopt;
  std::vector<double> times = candidate_repeat_ms;
  std::ranges::sort(times);
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle]
                               : (times[middle - 1] + times[middle]) / 2;
}

bool CaseResult::passed() const {
  return !error && contract_failures.empty() &&
         std::ranges::all_of(outputs, &OutputResult::passed);
}

std::optional<Cause> ValidationResult::cause() const {
  if (findings.empty()) return std::nullopt;
  return findings.front().cause;
}

Verdict ValidationResult::verdict() const {
  if (error) return Verdict::kUndecided;
  if (!std::ranges::all_of(cases, &CaseResult::passed) ||
      std::ranges::any_of(findings, &Finding::fails))
    return Verdict::kFailed;
  const bool nothing = std::ranges::all_of(
      cases, [](const CaseResult& result) { return result.outputs.empty(); });
  if (nothing || !NeverCompared(cases).empty()) return Verdict::kUndecided;
  return Verdict::kPassed;
}

std::vector<std::string> ValidationResult::Reasons() const {
  std::vector<std::string> reasons;
  if (error) {
    reasons.push_back(error->message);
    return reasons;
  }
  for (const CaseResult& result : cases) {
    if (result.error)
      reasons.push_back(std::format("the candidate does not run case {}: {}",
                                    result.name, result.error->message));
    for (const std::string& failure : result.contract_failures) {
      reasons.push_back(std::format("{} (case {})", failure, result.name));
    }
    for (const OutputResult& output : result.outputs) {
      for (const std::string& failure : output.contract_failures) {
        reasons.push_back(
            std::format("{}: {} (case {})", output.name, failure, result.name));
      }
    }
  }
  for (const CaseResult& result : cases) {
    for (const OutputResult& output : result.outputs) {
      if (output.contract_failures.empty() && !output.passed()) {
        reasons.push_back(
            std::format("{} (case {})", Describe(output), result.name));
      }
    }
  }
  if (!reasons.empty()) return reasons;
  // Both sides can agree on what is wrong.
  for (const Finding& finding : findings) {
    if (finding.fails)
      reasons.push_back(
          std::format("{} (case {})", finding.message, finding.case_name));
  }
  if (!reasons.empty()) return reasons;
  for (const std::string& name : NeverCompared(cases)) {
    reasons.push_back(std::format(
        "output {} had no elements in any case: nothing was compared", name));
  }
  if (verdict() == Verdict::kUndecided && reasons.empty())
    reasons.emplace_back("nothing was compared");
  return reasons;
}

}  // namespace parity
