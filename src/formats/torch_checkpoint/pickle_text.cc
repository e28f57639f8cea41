#include "formats/torch_checkpoint/pickle_text.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {
namespace {

std::unexpected<Error> NotA(std::string_view what, std::string_view line) {
  return Fail(ErrorCode::kCorrupt, std::format("the pickle's {} '{}' is none",
                                               what, line.substr(0, 40)));
}

// `count` hexadecimal digits at the start of `text`.
std::optional<std::uint32_t> Hex(std::string_view text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  const std::string_view digits = text.substr(0, count);
  const char* const end = digits.data() + digits.size();
  std::uint32_t value = 0;
  const auto [stop, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (code != std::errc() || stop != end) return std::nullopt;
  return value;
}

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0U | (code >> 6));
    put(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0U | (code >> 12));
    put(0x80U | ((code >> 6) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  } else {
    put(0xF0U | (code >> 18));
    put(0x80U | ((code >> 12) & 0x3FU));
    put(0x80U | ((code >> 6) & 0x3FU));
    put(0x80U | (code & 0x3FU));
  }
}

// The character a simple escape stands for; nothing for others.
std::optional<char> SimpleEscape(char c) {
  switch (c) {
    case '\\':
    case '\'':
    case '"':
      return c;
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return std::nullopt;
  }
}

}  // namespace

Result<PickleValue> ParsePickleInt(std::string_view line) {
  const std::string_view digits = line.starts_with('-') ? line.substr(1) : line;
  const bool all_digits =
      !digits.empty() &&
      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!all_digits) return NotA("integer", line);
  std::int64_t value = 0;
  const auto [stop, code] =
      std::from_chars(line.data(), line.data() + line.size(), value);
  if (code == std::errc::result_out_of_range)
    return PickleBigInt{.bytes = {}, .digits = line};
  return value;
}

Result<double> ParsePickleFloat(std::string_view line) {
  double value = 0;
  const auto [stop, code] =
      std::from_chars(line.data(), line.data() + line.size(), value);
  if (stop != line.data() + line.size() || line.empty() ||
      code == std::errc::invalid_argument)
    return NotA("float", line);
  return value;
}

Result<std::string> ParsePickleString(std::string_view line) {
  if (line.size() < 2 || line.front() != line.back() ||
      (line.front() != '\'' && line.front() != '"')) {
    return NotA("string", line);
  }
  const std::string_view body = line.substr(1, line.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\') {
      text += body[i];
      continue;
    }
    if (++i == body.size()) return NotA("string", line);
    if (const std::optional<char> simple = SimpleEscape(body[i])) {
      text += *simple;
      continue;
    }
    const std::optional<std::uint32_t> hex =
        body[i] == 'x' ? Hex(body.substr(i + 1), 2) : std::nullopt;
    if (!hex) return NotA("string", line);
    text += static_cast<char>(static_cast<unsigned char>(*hex));
    i += 2;
  }
  return text;
}

Result<std::string> ParsePickleUnicode(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char next = i + 1 < line.size() ? line[i + 1] : '\0';
    if (line[i] != '\\' || (next != 'u' && next != 'U')) {
      AppendUtf8(text, static_cast<unsigned char>(line[i]));
      continue;
    }
    const std::size_t count = next == 'u' ? 4 : 8;
    const std::optional<std::uint32_t> code = Hex(line.substr(i + 2), count);
    if (!code || *code > 0x10FFFF) return NotA("text", line);
    AppendUtf8(text, *code);
    i += 1 + count;
  }
  return text;
}

}  // namespace parity
