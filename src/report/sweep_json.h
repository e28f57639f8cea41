// A sweep as JSON, for machines. The schema is documented in
// docs/json_report.md.
#ifndef PARITY_REPORT_SWEEP_JSON_H_
#define PARITY_REPORT_SWEEP_JSON_H_

#include <string>
#include <vector>

#include "parity/sweep.h"

namespace parity {

// Raised when a key changes its meaning or goes away; added keys do not raise
// it.
inline constexpr int kSweepJsonSchemaVersion = 1;

// `command_line` is what the user ran. Ends in a newline.
[[nodiscard]] std::string FormatSweepJson(
    const SweepResult& result, const std::vector<std::string>& command_line);

}  // namespace parity

#endif  // PARITY_REPORT_SWEEP_JSON_H_
