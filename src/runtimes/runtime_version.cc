#include "runtimes/runtime_version.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "parity/error.h"

namespace parity {
namespace {

constexpr std::size_t kLongestSuffix = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsSuffixCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '.' || c == '-';
}

// The whole of `text`, digits only.
std::optional<std::uint32_t> Number(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

// Cuts what stands before the first `separator` off; everything without one.
std::string_view CutFirst(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return first;
}

// Identifier by identifier; numbers by value and before words.
bool SuffixIsOlder(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view first = CutFirst(a, '.');
    const std::string_view second = CutFirst(b, '.');
    if (first == second) continue;
    const std::optional<std::uint32_t> first_number = Number(first);
    const std::optional<std::uint32_t> second_number = Number(second);
    if (first_number && second_number) return *first_number < *second_number;
    if (first_number.has_value() != second_number.has_value())
      return first_number.has_value();
    return first < second;
  }
  return a.empty() && !b.empty();
}

}  // namespace

std::string RuntimeVersion::Text() const {
  return std::format("{}.{}.{}{}{}", numbers[0], numbers[1], numbers[2],
                     suffix.empty() ? "" : "-", suffix);
}

Result<RuntimeVersion> ParseRuntimeVersion(std::string_view text) {
  const auto refuse = [text] {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("'{}' is not a version of ONNX Runtime; write 1.20.1",
                    text));
  };
  RuntimeVersion version;
  std::string_view rest = text;
  const bool has_suffix = text.contains('-');
  std::string_view release = CutFirst(rest, '-');
  version.suffix = rest;
  if (has_suffix &&
      (rest.empty() || rest.size() > kLongestSuffix || rest.starts_with('.') ||
       rest.ends_with('.') || rest.contains("..") ||
       !std::ranges::all_of(rest, IsSuffixCharacter)))
    return refuse();
  if (std::ranges::count(release, '.') != 2) return refuse();
  for (std::uint32_t& number : version.numbers) {
    const std::optional<std::uint32_t> part = Number(CutFirst(release, '.'));
    if (!part) return refuse();
    number = *part;
  }
  // One text a version: 01.20.1 would be another folder.
  if (version.Text() != text) return refuse();
  return version;
}

bool IsOlder(const RuntimeVersion& a, const RuntimeVersion& b) {
  if (a.numbers != b.numbers) return a.numbers < b.numbers;
  if (a.suffix.empty() || b.suffix.empty())
    return !a.suffix.empty() && b.suffix.empty();
  return SuffixIsOlder(a.suffix, b.suffix);
}

Status CheckUsable(const RuntimeVersion& version) {
  // What backend/ort needs of a library.
  const RuntimeVersion oldest{.numbers = {1, 16, 0}};
  if (!IsOlder(version, oldest)) return {};
  return Fail(ErrorCode::kUnsupported,
              std::format("ONNX Runtime {} is too old: 1.16.0 or newer is "
                          "needed",
                          version.Text()));
}

}  // namespace parity
