// A sweep as comma-separated values (RFC 4180), for spreadsheets.
#ifndef PARITY_REPORT_SWEEP_CSV_H_
#define PARITY_REPORT_SWEEP_CSV_H_

#include <string>

#include "parity/sweep.h"

namespace parity {

// A header, then the rows in their order: a column for each axis, then the
// fields. Lines end in CR LF. What is not known is empty; numbers come with all
// their digits.
[[nodiscard]] std::string FormatSweepCsv(const SweepResult& result);

}  // namespace parity

#endif  // PARITY_REPORT_SWEEP_CSV_H_
