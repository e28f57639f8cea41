// SHA-256 of files and tensors, for reports and metadata.
#ifndef PARITY_BASE_SHA256_H_
#define PARITY_BASE_SHA256_H_

#include <nettle/sha2.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace parity {

class Sha256 {
 public:
  Sha256();
  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text);
  // 64 lower-case hexadecimal digits. Ends the computation.
  [[nodiscard]] std::string Finish();

 private:
  sha256_ctx context_;
};

// The digest of one block of bytes, as 64 hexadecimal digits.
[[nodiscard]] std::string Sha256Hex(std::span<const std::byte> bytes);

}  // namespace parity

#endif  // PARITY_BASE_SHA256_H_
