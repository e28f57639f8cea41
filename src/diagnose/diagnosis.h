// Names the cause of what a validation found in one case.
#ifndef PARITY_DIAGNOSE_DIAGNOSIS_H_
#define PARITY_DIAGNOSE_DIAGNOSIS_H_

#include <cstdint>
#include <vector>

#include "diagnose/investigation.h"
#include "parity/diagnosis.h"

namespace parity {

struct DiagnosisOptions {
  std::vector<CaseSummary> cases;  // all of the validation
  std::int64_t window_bytes = 0;   // of taps at once; 0: the default
  bool strict_ties = false;
};

// Applies the rules in order, from what costs nothing to what takes further
// runs, and gives the findings, the most important first. Requires
// Investigation::MeasureBudgets() unless the contract is broken. Never empty
// for a case that differs beyond noise.
[[nodiscard]] std::vector<Finding> Diagnose(const Investigation& investigation,
                                            const DiagnosisOptions& options);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_DIAGNOSIS_H_
