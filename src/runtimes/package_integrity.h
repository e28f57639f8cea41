// Integrity strings of package registries: "sha512-<base64>", several separated
// by spaces.
#ifndef PARITY_RUNTIMES_PACKAGE_INTEGRITY_H_
#define PARITY_RUNTIMES_PACKAGE_INTEGRITY_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity {

// "sha512-…" of `bytes`.
[[nodiscard]] std::string IntegrityOf(std::span<const std::byte> bytes);

// Only SHA-512 counts; whoever gives several digests of it accepts either.
// Errors: kInvalidArgument when `integrity` has no SHA-512, kCorrupt when
// `bytes` are others; both naming `what`.
[[nodiscard]] Status CheckIntegrity(std::span<const std::byte> bytes,
                                    std::string_view integrity,
                                    std::string_view what);

}  // namespace parity

#endif  // PARITY_RUNTIMES_PACKAGE_INTEGRITY_H_
