// Decoded samples, before they become a tensor.
#ifndef PARITY_FORMATS_IMAGE_SAMPLES_H_
#define PARITY_FORMATS_IMAGE_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "parity/error.h"

namespace parity {

// RGB, interleaved, rows without padding.
struct Samples {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int bits = 8;  // 8, or 16 in the machine's byte order
  std::unique_ptr<std::byte[]> bytes;
};

// No memory is taken for a size before `file_size` bytes can hold it:
// `bytes_per_file_byte` is the most a compressed byte may stand for. Sets size
// and memory. Errors: kUnsupported beyond 2^28 pixels, kCorrupt, kIo.
[[nodiscard]] Result<Samples> AllocateSamples(std::uint32_t width,
                                              std::uint32_t height, int bits,
                                              std::size_t file_size,
                                              std::uint64_t pixels_per_byte);

// Errors: kCorrupt with the library's reason, kUnsupported.
[[nodiscard]] Result<Samples> DecodePng(std::span<const std::byte> file);
[[nodiscard]] Result<Samples> DecodeJpeg(std::span<const std::byte> file);

}  // namespace parity

#endif  // PARITY_FORMATS_IMAGE_SAMPLES_H_
