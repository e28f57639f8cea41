#include "diagnose/diagnosis.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "diagnose/investigation.h"
#include "diagnose/local_errors.h"
#include "diagnose/noise_model.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"

namespace parity {
namespace {

using Findings = std::vector<Finding>;

bool Add(Findings& findings, std::optional<Finding> finding) {
  if (!finding) return false;
  findings.push_back(*std::move(finding));
  return true;
}

// Who of the runtime's parts: the first that the outputs are right without.
void ExamineCandidate(const Investigation& investigation,
                      const DiagnosisOptions& options, Findings& findings) {
  if (Add(findings, ExamineProvider(investigation))) return;
  if (Add(findings, ExamineDeterminism(investigation))) return;
  if (Add(findings, ExamineOptimizer(investigation))) return;
  Add(findings, ExamineRuntime(investigation, options.window_bytes > 0
                                                  ? options.window_bytes
                                                  : kDefaultWindowBytes));
}

void ExamineLeg(const Investigation& investigation,
                const DiagnosisOptions& options, Leg leg, Findings& findings) {
  switch (leg) {
    case Leg::kReference:
      Add(findings, ExamineReference(investigation));
      return;
    case Leg::kExport:
      // A reference in training mode is another function in float64, too.
      if (Add(findings, ExamineReference(investigation)) ||
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

// Without float64 only experiments speak: is there a setting of one side with
// which the two agree?
void ExamineBlindly(const Investigation& investigation,
                    const DiagnosisOptions& options, Findings& findings) {
  if (Add(findings, ExamineReference(investigation))) return;
  ExamineCandidate(investigation, options, findings);
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
  if (guilty.empty()) ExamineBlindly(investigation, options, findings);
  Add(findings, ExamineNonFinite(investigation));
  return findings;
}

}  // namespace parity
