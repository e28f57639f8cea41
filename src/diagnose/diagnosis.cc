#include "diagnose/diagnosis.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "diagnose/investigation.h"
#include "diagnose/local_errors.h"
#include "diagnose/noise_model.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"
#include "parity/error.h"

namespace parity {
namespace {

using Findings = std::vector<Finding>;

bool Add(Findings& findings, std::optional<Finding> finding) {
  if (!finding) return false;
  findings.push_back(*std::move(finding));
  return true;
}

// The part of the runtime that the outputs are right without.
std::optional<Finding> ExamineSettings(const Investigation& investigation) {
  if (auto finding = ExamineProvider(investigation)) return finding;
  if (auto finding = ExamineDeterminism(investigation)) return finding;
  return ExamineOptimizer(investigation);
}

void ExamineCandidate(const Investigation& investigation,
                      const DiagnosisOptions& options, Findings& findings) {
  if (Add(findings, ExamineSettings(investigation))) return;
  Add(findings, ExamineRuntime(investigation, options.window_bytes > 0
                                                  ? options.window_bytes
                                                  : kDefaultWindowBytes));
}

void ExamineLeg(const Investigation& investigation,
                const DiagnosisOptions& options, Leg leg, Findings& findings) {
  const auto blames_reference = [](const Finding& finding) {
    return finding.cause == Cause::kReference;
  };
  // Two legs may lead there: a reference in training mode is another function
  // in float64, too.
  const bool is_known = std::ranges::any_of(findings, blames_reference);
  switch (leg) {
    case Leg::kReference:
      if (!is_known) Add(findings, ExamineReference(investigation));
      return;
    case Leg::kExport:
      if (is_known || Add(findings, ExamineReference(investigation)) ||
          Add(findings, ExamineInputs(investigation)))
        return;
      Add(findings, ExamineExport(investigation, options.cases));
      return;
    case Leg::kRuntime:
      ExamineCandidate(investigation, options, findings);
      return;
  }
}

bool AllWithin(const Investigation& investigation) {
  return std::ranges::all_of(investigation.budgets(),
                             [](const ErrorBudget& budget) {
                               return budget.verdict == NoiseVerdict::kWithin;
                             });
}

// Without the graph in float64 only experiments speak: is there a setting of
// one side with which the two agree? Where none is, nothing speaks for a wrong
// kernel, and exports are wrong more often than runtimes.
void ExamineBlindly(const Investigation& investigation, Findings& findings) {
  if (Add(findings, ExamineReference(investigation)) ||
      Add(findings, ExamineSettings(investigation)))
    return;
  Finding finding = investigation.MakeFinding(
      Cause::kExport, Confidence::kLikely,
      "the two sides differ, and neither a setting of the runtime nor the "
      "reference accounts for it");
  if (const std::optional<Error>& error = investigation.graph64_error())
    finding.evidence.push_back(
        {.name = "the ONNX graph in float64", .value = error->message});
  findings.push_back(std::move(finding));
}

}  // namespace

std::vector<Finding> Diagnose(const Investigation& investigation,
                              const DiagnosisOptions& options) {
  Findings findings;
  if (Add(findings, ExamineContract(investigation))) return findings;
  if (AllWithin(investigation)) {
    Add(findings, ExamineNonFinite(investigation));
    Add(findings, ExamineRounding(investigation));
    return findings;
  }
  if (std::optional<Finding> tie = ExamineTies(investigation)) {
    tie->fails = options.strict_ties;
    findings.push_back(*std::move(tie));
    return findings;
  }
  const std::vector<Leg> guilty = investigation.GuiltyLegs();
  for (const Leg leg : guilty)
    ExamineLeg(investigation, options, leg, findings);
  if (guilty.empty()) ExamineBlindly(investigation, findings);
  Add(findings, ExamineNonFinite(investigation));
  return findings;
}

}  // namespace parity
