// A sweep for the terminal: one table, then which combination to ship.
#ifndef PARITY_REPORT_SWEEP_TABLE_H_
#define PARITY_REPORT_SWEEP_TABLE_H_

#include <string>

#include "parity/sweep.h"
#include "report/console_report.h"

namespace parity {

// The rows in their order. Axes with one value only are named above the table.
// Ends in "Ship this: …" and the commands for it, or "Nothing to ship: …".
[[nodiscard]] std::string FormatSweepTable(const SweepResult& result,
                                           Colors colors);

}  // namespace parity

#endif  // PARITY_REPORT_SWEEP_TABLE_H_
