// A validation as JSON, for machines. The schema is documented in
// docs/json_report.md.
#ifndef PARITY_REPORT_JSON_REPORT_H_
#define PARITY_REPORT_JSON_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

// Raised when a key changes its meaning or goes away; added keys do not raise
// it.
inline constexpr int kJsonSchemaVersion = 1;

// `command_line` is what the user ran. Ends in a newline. Numbers that are not
// finite are the strings "NaN", "inf", "-inf".
[[nodiscard]] std::string FormatJsonReport(
    const ValidationResult& result, const ValidationOptions& options,
    const std::vector<std::string>& command_line);

// The report of a run that could not tell: verdict "error" and the message.
[[nodiscard]] std::string FormatJsonError(
    const Error& error, const ValidationOptions& options,
    const std::vector<std::string>& command_line);

// One of several validations of the same file.
struct RuntimeReport {
  std::string runtime;  // "1.20.1", "system"
  std::string report;   // of either function above
};
[[nodiscard]] std::string FormatJsonRuntimes(
    const std::vector<RuntimeReport>& reports);

}  // namespace parity

#endif  // PARITY_REPORT_JSON_REPORT_H_
