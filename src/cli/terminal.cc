#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <print>
#include <string_view>

#include "report/console_report.h"

namespace parity {
namespace {

bool TakesColors(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  if (no_color != nullptr && *no_color != '\0') return false;
  if (term != nullptr && std::string_view(term) == "dumb") return false;
  return ::isatty(descriptor) == 1;
}

void PrintMessage(std::string_view kind, std::string_view color,
                  std::string_view message) {
  if (TakesColors(STDERR_FILENO)) {
    std::println(stderr, "onnx-parity: {}{}:\x1b[0m {}", color, kind, message);
  } else {
    std::println(stderr, "onnx-parity: {}: {}", kind, message);
  }
}

}  // namespace

Colors StdoutColors() {
  return TakesColors(STDOUT_FILENO) ? Colors::kAnsi : Colors::kNever;
}

Colors StderrColors() {
  return TakesColors(STDERR_FILENO) ? Colors::kAnsi : Colors::kNever;
}

void PrintError(std::string_view message) {
  PrintMessage("error", "\x1b[31m", message);
}

void PrintWarning(std::string_view message) {
  PrintMessage("warning", "\x1b[33m", message);
}

ProgressLine::ProgressLine() : enabled_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() { Clear(); }

void ProgressLine::Show(std::string_view text) {
  if (!enabled_) return;
  std::print(stderr, "\r\x1b[K{}…", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  std::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace parity
