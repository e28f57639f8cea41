// What the terminal can show: colours, a line of progress, errors in one form.
#ifndef PARITY_CLI_TERMINAL_H_
#define PARITY_CLI_TERMINAL_H_

#include <string_view>

#include "report/console_report.h"

namespace parity {

// ANSI colours for a terminal on standard output, unless NO_COLOR is set or
// TERM is "dumb".
[[nodiscard]] Colors StdoutColors();
// The same for standard error.
[[nodiscard]] Colors StderrColors();

// "onnx-parity: error: …" on standard error, red on a terminal.
void PrintError(std::string_view message);
// "onnx-parity: warning: …" on standard error, yellow on a terminal.
void PrintWarning(std::string_view message);

// One line on standard error that overwrites itself; nothing where that is no
// terminal. Cleared on destruction.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void Show(std::string_view text);
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace parity

#endif  // PARITY_CLI_TERMINAL_H_
