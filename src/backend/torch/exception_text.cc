#include "backend/torch/exception_text.h"

#include <c10/util/Exception.h>

#include <cctype>
#include <cstddef>
#include <exception>
#include <format>
#include <string>
#include <string_view>
#include <vector>

#include "parity/error.h"

namespace parity {
namespace {

constexpr std::size_t kLongest = 600;
constexpr std::string_view kMark = "<--- HERE";

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(Trim(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// "RuntimeError: …", "torch.jit.Error: …": the last line of a Python-like
// traceback.
bool NamesAnError(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view kind = line.substr(0, colon);
  if (!kind.ends_with("Error") && !kind.ends_with("Exception")) return false;
  for (const char c : kind) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' &&
        c != '_')
      return false;
  }
  return true;
}

bool IsNoise(std::string_view line) {
  return line.empty() || line.starts_with("Exception raised from ") ||
         line.starts_with("frame #") ||
         line.starts_with("Traceback of TorchScript") ||
         line.starts_with(
             "The following operation failed in the TorchScript") ||
         line.find_first_not_of("~ ") == std::string_view::npos;
}

std::string WithoutControls(std::string_view text) {
  std::string clean(text.substr(0, kLongest));
  // Not in the middle of a UTF-8 sequence.
  while (clean.size() < text.size() && !clean.empty() &&
         (static_cast<unsigned char>(text[clean.size()]) & 0xC0U) == 0x80U)
    clean.pop_back();
  for (char& c : clean) {
    if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = ' ';
  }
  return clean;
}

}  // namespace

std::string OneLine(std::string_view what) {
  const std::vector<std::string_view> lines = Lines(what);
  std::string_view message;
  std::string_view code;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (NamesAnError(lines[i])) {
      message = lines[i];
      // The interpreter repeats "RuntimeError: " before every message.
      constexpr std::string_view kPrefix = "RuntimeError: ";
      if (message.starts_with(kPrefix)) message.remove_prefix(kPrefix.size());
    }
    if (lines[i].ends_with(kMark) && i > 0) code = lines[i - 1];
  }
  std::string text(message);
  // Without a traceback the first two lines are the message and its detail.
  for (std::size_t i = 0, taken = 0;
       message.empty() && i < lines.size() && taken < 2; ++i) {
    if (IsNoise(lines[i]) || lines[i].ends_with(kMark)) continue;
    if (!text.empty()) text += ' ';
    text += lines[i];
    ++taken;
  }
  if (text.empty()) text = "libtorch failed without saying why";
  if (!code.empty() && code != text)
    text = std::format("{} (at '{}')", text, code);
  return WithoutControls(text);
}

Error BackendError(const std::exception& exception) {
  const auto* error = dynamic_cast<const c10::Error*>(&exception);
  return {.code = ErrorCode::kBackend,
          .message = OneLine(error != nullptr ? error->what_without_backtrace()
                                              : exception.what())};
}

}  // namespace parity
