#include <algorithm>
#include <cmath>
#include <cstddef>
#include <format>
#include <optional>
#include <string>

#include "diagnose/investigation.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"

namespace parity {
namespace {

// The next of 1, 2, 5 × 10^n above `value`.
double RoundUp(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power > value * 1.000001) return step * power;
  }
  return 10 * power;
}

}  // namespace

std::optional<Finding> ExamineRounding(const Investigation& investigation) {
  double largest = 0;
  bool all_within = true;
  bool measured = true;
  for (const ErrorBudget& budget : investigation.budgets()) {
    measured = measured && budget.reference && budget.runtime;
    largest = std::max(largest, budget.total.max);
    all_within = all_within && budget.verdict == NoiseVerdict::kWithin;
  }
  if (!all_within || largest == 0 || !std::isfinite(largest))
    return std::nullopt;
  Finding finding = investigation.MakeFinding(
      Cause::kRounding, Confidence::kCertain,
      std::format("nothing but rounding: {}; an absolute tolerance of {:g} "
                  "would hold",
                  measured ? "both sides are as far from float64 as their "
                             "arithmetic explains"
                           : "no more than arithmetic at this scale leaves",
                  RoundUp(2 * largest)));
  finding.fails = false;
  finding.outputs.clear();
  for (std::size_t i = 0; i < investigation.budgets().size(); ++i) {
    const ErrorBudget& budget = investigation.budgets()[i];
    if (!budget.reference || !budget.runtime) continue;
    const std::string& name = investigation.subject().actual[i].name;
    finding.outputs.push_back(name);
    finding.evidence.push_back(
        {.name = name,
         .value = std::format("reference error {}, runtime error {}",
                              Text(budget.reference->max),
                              Text(budget.runtime->max))});
  }
  return finding;
}

}  // namespace parity
