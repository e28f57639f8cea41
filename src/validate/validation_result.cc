// What the records of a validation add up to: the verdict and its reasons.
#include <algorithm>
#include <format>
#include <string>
#include <vector>

#include "parity/compare.h"
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

bool OutputResult::passed() const {
  return contract_failures.empty() && comparison &&
         comparison->mismatch_count == 0;
}

bool CaseResult::passed() const {
  return contract_failures.empty() &&
         std::ranges::all_of(outputs, &OutputResult::passed);
}

Verdict ValidationResult::verdict() const {
  if (!std::ranges::all_of(cases, &CaseResult::passed)) return Verdict::kFailed;
  const bool nothing = std::ranges::all_of(
      cases, [](const CaseResult& result) { return result.outputs.empty(); });
  if (nothing || !NeverCompared(cases).empty()) return Verdict::kUndecided;
  return Verdict::kPassed;
}

std::vector<std::string> ValidationResult::Reasons() const {
  std::vector<std::string> reasons;
  for (const CaseResult& result : cases) {
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
  for (const std::string& name : NeverCompared(cases)) {
    reasons.push_back(std::format(
        "output {} had no elements in any case: nothing was compared", name));
  }
  if (verdict() == Verdict::kUndecided && reasons.empty())
    reasons.emplace_back("nothing was compared");
  return reasons;
}

}  // namespace parity
