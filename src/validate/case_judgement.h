// What the records of one case say before and after float64 was asked.
#ifndef PARITY_VALIDATE_CASE_JUDGEMENT_H_
#define PARITY_VALIDATE_CASE_JUDGEMENT_H_

#include <string>
#include <vector>

#include "diagnose/investigation.h"
#include "parity/diagnosis.h"
#include "parity/validation.h"

namespace parity {

// Not known to be within noise.
[[nodiscard]] bool IsBeyond(const OutputResult& output);

// Whether float64 should be asked. Under the published rule a difference that
// passes is looked into only when it is 32 times the floor of the noise: the
// rounding of deep networks is a few times that, and float64 takes ten times as
// long as the validation.
[[nodiscard]] bool IsSuspicious(const OutputResult& output);

// For rules that look at several cases. One that is below its threshold, but
// beyond noise, has not passed.
[[nodiscard]] std::vector<CaseSummary> Summarize(
    const std::vector<CaseResult>& cases);

// Of the case and of its outputs, one line each.
[[nodiscard]] std::vector<std::string> ContractFailures(
    const CaseResult& entry);

// Excuses outputs that differ only by the tie. What it does not account for
// must still pass by itself.
void Excuse(const Finding& tie, CaseResult& entry);

}  // namespace parity

#endif  // PARITY_VALIDATE_CASE_JUDGEMENT_H_
