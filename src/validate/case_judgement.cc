#include "validate/case_judgement.h"

#include <algorithm>
#include <cstddef>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/investigation.h"
#include "diagnose/noise_model.h"
#include "parity/diagnosis.h"
#include "parity/validation.h"

namespace parity {
namespace {

constexpr double kSuspicious = 32;

// As float64 has shown.
bool IsFarBeyond(const OutputResult& output) {
  return !output.excused_as_tie && output.budget &&
         output.budget->verdict == NoiseVerdict::kBeyond;
}

}  // namespace

bool IsBeyond(const OutputResult& output) {
  return !output.contract_failures.empty() || !output.budget ||
         output.budget->verdict != NoiseVerdict::kWithin;
}

bool IsSuspicious(const OutputResult& output) {
  if (!IsBeyond(output) || output.criterion == Criterion::kNoise ||
      !output.budget)
    return IsBeyond(output);
  const ErrorBudget& budget = *output.budget;
  return !Within(budget.total, {.rms = kSuspicious * budget.noise_rms,
                                .max = kSuspicious * budget.noise_max});
}

std::vector<CaseSummary> Summarize(const std::vector<CaseResult>& cases) {
  std::vector<CaseSummary> summaries;
  for (const CaseResult& entry : cases) {
    CaseSummary summary{
        .name = entry.name,
        .input_shapes = {},
        .passed =
            entry.passed() && std::ranges::none_of(entry.outputs, IsFarBeyond)};
    for (const InputDescription& input : entry.inputs)
      summary.input_shapes.push_back(input.shape);
    summaries.push_back(std::move(summary));
  }
  return summaries;
}

std::vector<std::string> ContractFailures(const CaseResult& entry) {
  std::vector<std::string> failures = entry.contract_failures;
  for (const OutputResult& output : entry.outputs) {
    for (const std::string& failure : output.contract_failures)
      failures.push_back(std::format("{}: {}", output.name, failure));
  }
  return failures;
}

void Excuse(const Finding& tie, CaseResult& entry) {
  for (OutputResult& output : entry.outputs) {
    const auto found = std::ranges::find(tie.outputs, output.name);
    if (found == tie.outputs.end()) continue;
    const double residual =
        tie.residuals[static_cast<std::size_t>(found - tie.outputs.begin())];
    if (output.criterion == Criterion::kNoise ||
        residual < output.tolerance.atol || residual == 0)
      output.excused_as_tie = true;
  }
}

}  // namespace parity
