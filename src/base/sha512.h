// SHA-512 in the form of subresource integrity, which package registries give.
#ifndef PARITY_BASE_SHA512_H_
#define PARITY_BASE_SHA512_H_

#include <cstddef>
#include <span>
#include <string>

namespace parity {

// The digest of one block of bytes in base64: 88 characters.
[[nodiscard]] std::string Sha512Base64(std::span<const std::byte> bytes);

}  // namespace parity

#endif  // PARITY_BASE_SHA512_H_
