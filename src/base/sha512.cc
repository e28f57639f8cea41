#include "base/sha512.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace parity {

std::string Sha512Base64(std::span<const std::byte> bytes) {
  sha512_ctx context;
  sha512_init(&context);
  sha512_update(&context, bytes.size(),
                reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA512_DIGEST_SIZE> digest{};
  sha512_digest(&context, digest.size(), digest.data());
  std::string text(BASE64_ENCODE_RAW_LENGTH(SHA512_DIGEST_SIZE), '\0');
  base64_encode_raw(text.data(), digest.size(), digest.data());
  return text;
}

}  // namespace parity
