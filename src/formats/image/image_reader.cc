#include "formats/image/image_reader.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <filesystem>
#include <format>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/file_kind.h"
#include "formats/image/samples.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::uint64_t kMaxPixels = std::uint64_t{1} << 28;

// Every sample value as a float: the division happens once a value, not once a
// pixel.
std::vector<float> Scale(int bits) {
  const std::uint32_t largest = (1U << bits) - 1;
  std::vector<float> scale(largest + 1);
  for (std::uint32_t value = 0; value <= largest; ++value)
    scale[value] = static_cast<float>(static_cast<double>(value) / largest);
  return scale;
}

// Interleaved samples of type T to planes.
template <class T>
void Separate(const Samples& samples, std::span<const float> scale,
              std::span<float> planes) {
  const std::size_t pixels = planes.size() / 3;
  const std::byte* source = samples.bytes.get();
  for (std::size_t i = 0; i < pixels; ++i) {
    std::array<T, 3> pixel;
    std::memcpy(pixel.data(), source, sizeof(pixel));
    source += sizeof(pixel);
    for (std::size_t c = 0; c < 3; ++c)
      planes[c * pixels + i] = scale[pixel[c]];
  }
}

Result<Samples> Decode(std::span<const std::byte> file) {
  const FileKind kind = SniffFileKind(file);
  if (kind == FileKind::kPng) return DecodePng(file);
  if (kind == FileKind::kJpeg) return DecodeJpeg(file);
  return Fail(ErrorCode::kUnsupported,
              std::format("is {}, not a PNG or JPEG image", Describe(kind)));
}

}  // namespace

Result<Samples> AllocateSamples(std::uint32_t width, std::uint32_t height,
                                int bits, std::size_t file_size,
                                std::uint64_t pixels_per_byte) {
  const std::uint64_t pixels = std::uint64_t{width} * height;
  if (pixels > kMaxPixels) {
    return Fail(
        ErrorCode::kUnsupported,
        std::format("has {}x{} pixels; at most 2^28 are read", width, height));
  }
  if (pixels == 0 || pixels / pixels_per_byte > file_size) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} bytes cannot hold {}x{} pixels: the image is "
                            "truncated or damaged",
                            file_size, width, height));
  }
  Samples samples{
      .width = width, .height = height, .bits = bits, .bytes = nullptr};
  const std::uint64_t size = pixels * 3 * static_cast<std::uint64_t>(bits / 8);
  samples.bytes.reset(new (std::nothrow)
                          std::byte[static_cast<std::size_t>(size)]);
  if (samples.bytes == nullptr) {
    return Fail(ErrorCode::kIo,
                std::format("no memory for {}x{} pixels", width, height));
  }
  return samples;
}

Result<Tensor> DecodeImage(std::span<const std::byte> file) {
  PARITY_ASSIGN_OR_RETURN(const Samples samples, Decode(file));
  PARITY_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::Allocate(DType::kFloat32, {1, 3, samples.height, samples.width}));
  const std::vector<float> scale = Scale(samples.bits);
  const std::span<float> planes = tensor.MutableAs<float>();
  if (samples.bits == 8) {
    Separate<std::uint8_t>(samples, scale, planes);
  } else {
    Separate<std::uint16_t>(samples, scale, planes);
  }
  return tensor;
}

Result<Tensor> ReadImage(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  Result<Tensor> tensor = DecodeImage(file->bytes());
  if (!tensor)
    return std::unexpected(std::move(tensor).error().In(path.string()));
  return tensor;
}

}  // namespace parity
