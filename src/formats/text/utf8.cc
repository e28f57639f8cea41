#include "formats/text/utf8.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parity {
namespace {

struct Lead {
  std::size_t tail;           // continuation bytes that follow
  std::uint32_t first_value;  // the smallest code point this length may encode
  std::uint32_t bits;         // of the code point, from the lead byte
};

// A lead byte's meaning; tail 0 for a byte that cannot start a sequence.
Lead Decode(unsigned char byte) {
  if ((byte & 0xE0U) == 0xC0U) return {1, 0x80, byte & 0x1FU};
  if ((byte & 0xF0U) == 0xE0U) return {2, 0x800, byte & 0x0FU};
  if ((byte & 0xF8U) == 0xF0U) return {3, 0x10000, byte & 0x07U};
  return {0, 0, 0};
}

}  // namespace

bool IsUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i++]);
    if (byte < 0x80) continue;
    const Lead lead = Decode(byte);
    if (lead.tail == 0 || text.size() - i < lead.tail) return false;
    std::uint32_t code = lead.bits;
    for (std::size_t k = 0; k < lead.tail; ++k) {
      const auto next = static_cast<unsigned char>(text[i++]);
      if ((next & 0xC0U) != 0x80U) return false;
      code = (code << 6) | (next & 0x3FU);
    }
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < lead.first_value || code > 0x10FFFF || surrogate) return false;
  }
  return true;
}

}  // namespace parity
