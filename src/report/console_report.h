// A validation for the terminal: one table a case, then the verdict.
#ifndef PARITY_REPORT_CONSOLE_REPORT_H_
#define PARITY_REPORT_CONSOLE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/validation.h"

namespace parity {

enum class Colors : std::uint8_t { kNever, kAnsi };

// The whole text, ending in "Validation passed.", "Validation failed: …" or
// "Could not tell: …" and a newline.
[[nodiscard]] std::string FormatConsoleReport(const ValidationResult& result,
                                              Colors colors);

// The findings alone, for runs that could not tell. Empty when there are none.
[[nodiscard]] std::string FormatFindings(const std::vector<Finding>& findings,
                                         Colors colors);

}  // namespace parity

#endif  // PARITY_REPORT_CONSOLE_REPORT_H_
