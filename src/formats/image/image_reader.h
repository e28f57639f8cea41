// Reads photographs as network inputs.
#ifndef PARITY_FORMATS_IMAGE_IMAGE_READER_H_
#define PARITY_FORMATS_IMAGE_IMAGE_READER_H_

#include <cstddef>
#include <filesystem>
#include <span>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// A PNG or JPEG image, told apart by content, as float32 1x3xHxW in RGB order:
// sample / 255 (or / 65535 for 16-bit PNG), computed in double and rounded
// once. Grey is repeated in the three channels, palettes are looked up, alpha
// is dropped without blending. Gamma, colour profiles and EXIF orientation are
// ignored, as torchvision's ToTensor does. Errors: kCorrupt for damaged or
// truncated images, even where a picture could be guessed; kUnsupported for
// other kinds, CMYK, and more than 2^28 pixels.
[[nodiscard]] Result<Tensor> DecodeImage(std::span<const std::byte> file);

// The same for a file. Errors carry the path.
[[nodiscard]] Result<Tensor> ReadImage(const std::filesystem::path& path);

}  // namespace parity

#endif  // PARITY_FORMATS_IMAGE_IMAGE_READER_H_
