// Names inside files end up in messages and JSON: they must be UTF-8.
#ifndef PARITY_FORMATS_TEXT_UTF8_H_
#define PARITY_FORMATS_TEXT_UTF8_H_

#include <string_view>

namespace parity {

// Well-formed UTF-8 as RFC 3629 has it: no overlong forms, no surrogates,
// nothing beyond U+10FFFF.
[[nodiscard]] bool IsUtf8(std::string_view text);

}  // namespace parity

#endif  // PARITY_FORMATS_TEXT_UTF8_H_
