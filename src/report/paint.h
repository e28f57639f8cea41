// Colours of the terminal.
#ifndef PARITY_REPORT_PAINT_H_
#define PARITY_REPORT_PAINT_H_

#include <format>
#include <string>
#include <string_view>

#include "report/console_report.h"

namespace parity {

inline constexpr std::string_view kGreen = "\x1b[32m";
inline constexpr std::string_view kRed = "\x1b[31m";
inline constexpr std::string_view kYellow = "\x1b[33m";

[[nodiscard]] inline std::string Paint(std::string_view text,
                                       std::string_view color, Colors colors) {
  return colors == Colors::kAnsi ? std::format("{}{}\x1b[0m", color, text)
                                 : std::string(text);
}

}  // namespace parity

#endif  // PARITY_REPORT_PAINT_H_
