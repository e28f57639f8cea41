// Text from untrusted files, made safe for one line of a terminal.
#ifndef PARITY_BASE_PRINTABLE_H_
#define PARITY_BASE_PRINTABLE_H_

#include <cstddef>
#include <format>
#include <string>
#include <string_view>

namespace parity {

// `text` with control characters (line ends and terminal escapes among them)
// written as \x0A, and its middle left out where it is longer than
// `max_bytes`. UTF-8 passes unchanged.
[[nodiscard]] inline std::string Printable(std::string_view text,
                                           std::size_t max_bytes = 4096) {
  std::string printable;
  const auto append = [&printable](std::string_view part) {
    for (const char character : part) {
      const auto byte = static_cast<unsigned char>(character);
      if (byte < 0x20 || byte == 0x7F) {
        printable += std::format("\\x{:02X}", byte);
      } else {
        printable += character;
      }
    }
  };
  if (text.size() <= max_bytes) {
    append(text);
    return printable;
  }
  append(text.substr(0, max_bytes / 2));
  printable += " … ";
  append(text.substr(text.size() - max_bytes / 2));
  return printable;
}

}  // namespace parity

#endif  // PARITY_BASE_PRINTABLE_H_
