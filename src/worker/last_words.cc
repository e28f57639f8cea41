#include "worker/last_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parity {
namespace {

constexpr std::size_t kMaxLines = 3;
constexpr std::size_t kMaxLineBytes = 300;

// Debian's ONNX Runtime shares a library of ONNX schemas that has registered
// them before, and prints a line for each of about a thousand.
constexpr std::array<std::string_view, 2> kNoise = {
    "Schema error: ", "Trying to register schema with name "};

// Texts of the C++ library, glibc, the dynamic linker, libtorch and ONNX
// Runtime.
constexpr std::array<std::string_view, 7> kNoMemory = {
    "bad_alloc",
    "bad allocation",
    "can't allocate memory",
    "annot allocate memory",
    "ailed to allocate memory",
    "out of memory",
    "failed to map segment from shared object"};

bool IsNoise(std::string_view line) {
  return std::ranges::any_of(kNoise, [line](std::string_view start) {
    return line.starts_with(start);
  });
}

// Length of the UTF-8 character at the start of `text`; 0 when there is none.
std::size_t CharacterLength(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80                     ? 1
                             : first >= 0xC2 && first <= 0xDF ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || text.size() < length) return 0;
  const bool continued = std::ranges::all_of(
      text.substr(1, length - 1),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; });
  return continued ? length : 0;
}

// Length of the terminal's escape sequence (colours) at the start of `text`.
std::size_t EscapeLength(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t last = text.find_first_not_of("0123456789;", 2);
  return last == std::string_view::npos ? text.size() : last + 1;
}

std::string CleanLine(std::string_view line) {
  std::string printable;
  while (!line.empty() && printable.size() < kMaxLineBytes) {
    line.remove_prefix(EscapeLength(line));
    if (line.empty()) break;
    const std::size_t length = CharacterLength(line);
    const auto first = static_cast<unsigned char>(line.front());
    if (length == 0 || (first < 0x20 && first != '\t') || first == 0x7F) {
      printable += '?';
      line.remove_prefix(1);
    } else {
      printable += line.substr(0, length);
      line.remove_prefix(length);
    }
  }
  if (!line.empty()) printable += "…";
  return printable;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

}  // namespace

std::string LastWords(std::string_view output) {
  std::vector<std::string> lines;
  while (!output.empty() && lines.size() < kMaxLines) {
    const std::size_t start = output.find_last_of('\n') + 1;
    const std::string line = CleanLine(Trimmed(output.substr(start)));
    if (!line.empty() && !IsNoise(line)) lines.push_back(line);
    output = output.substr(0, start == 0 ? 0 : start - 1);
  }
  std::string words;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (!words.empty()) words += " | ";
    words += *line;
  }
  return words;
}

bool MentionsNoMemory(std::string_view text) {
  return std::ranges::any_of(kNoMemory, [text](std::string_view phrase) {
    return text.contains(phrase);
  });
}

}  // namespace parity
