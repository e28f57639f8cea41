// libpng reports errors by longjmp. Every function that may be jumped out of
// (the static ones between setjmp and libpng) has only trivial locals; what
// must be freed lives in Decoder, outside the jump.
#include <png.h>
#include <pngconf.h>

#include <array>
#include <bit>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <expected>
#include <format>
#include <memory>
#include <new>
#include <span>
#include <string_view>

#include "base/status_macros.h"
#include "formats/image/samples.h"
#include "parity/error.h"

namespace parity {
namespace {

// Deflate expands at most 1032 times, and the smallest pixel has one bit.
constexpr std::uint64_t kPixelsPerByte = std::uint64_t{1032} * 8;

struct Decoder {
  std::span<const std::byte> rest;
  std::array<char, 160> reason{};
  png_structp png = nullptr;
  png_infop info = nullptr;

  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

// libpng's error handler: keeps the reason and jumps back to the setjmp.
[[noreturn]] void OnError(png_structp png, png_const_charp message) {
  auto* const decoder = static_cast<Decoder*>(png_get_error_ptr(png));
  std::snprintf(decoder->reason.data(), decoder->reason.size(), "%s", message);
  png_longjmp(png, 1);
}

void OnWarning(png_structp, png_const_charp) {}

void OnRead(png_structp png, png_bytep target, png_size_t count) {
  auto* const decoder = static_cast<Decoder*>(png_get_io_ptr(png));
  if (count > decoder->rest.size()) png_error(png, "the image is truncated");
  std::memcpy(target, decoder->rest.data(), count);
  decoder->rest = decoder->rest.subspan(count);
}

// False after an error, whose reason is in the decoder.
bool ReadHeader(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_user_limits(decoder.png, 0x7FFFFFFF, 0x7FFFFFFF);
  png_set_read_fn(decoder.png, &decoder, OnRead);
  png_read_info(decoder.png, decoder.info);
  return true;
}

// Asks for interleaved RGB of 8 bits, or of 16 in the machine's byte order.
bool ApplyTransformations(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  const int color = png_get_color_type(decoder.png, decoder.info);
  const int depth = png_get_bit_depth(decoder.png, decoder.info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(decoder.png);
  if (depth < 8 && color == PNG_COLOR_TYPE_GRAY)
    png_set_expand_gray_1_2_4_to_8(decoder.png);
  if (depth == 16 && std::endian::native == std::endian::little)
    png_set_swap(decoder.png);
  png_set_strip_alpha(decoder.png);
  if ((color & PNG_COLOR_MASK_COLOR) == 0) png_set_gray_to_rgb(decoder.png);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  return true;
}

// `rows` has one pointer a row.
bool ReadPixels(Decoder& decoder, png_bytepp rows) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_read_image(decoder.png, rows);
  png_read_end(decoder.png, nullptr);
  return true;
}

std::unexpected<Error> Corrupt(const Decoder& decoder) {
  return Fail(ErrorCode::kCorrupt,
              std::format("cannot decode the PNG: {}",
                          std::string_view(decoder.reason.data())));
}

}  // namespace

Result<Samples> DecodePng(std::span<const std::byte> file) {
  Decoder decoder;
  decoder.rest = file;
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, OnError,
                                       OnWarning);
  if (decoder.png != nullptr)
    decoder.info = png_create_info_struct(decoder.png);
  if (decoder.info == nullptr)
    return Fail(ErrorCode::kIo, "no memory to decode a PNG image");
  if (!ReadHeader(decoder)) return Corrupt(decoder);
  const std::uint32_t height = png_get_image_height(decoder.png, decoder.info);
  const bool wide = png_get_bit_depth(decoder.png, decoder.info) == 16;
  PARITY_ASSIGN_OR_RETURN(
      Samples samples,
      AllocateSamples(png_get_image_width(decoder.png, decoder.info), height,
                      wide ? 16 : 8, file.size(), kPixelsPerByte));
  if (!ApplyTransformations(decoder)) return Corrupt(decoder);
  const std::size_t row_size = std::size_t{samples.width} * 3 *
                               static_cast<std::size_t>(samples.bits / 8);
  if (png_get_rowbytes(decoder.png, decoder.info) != row_size)
    return Fail(ErrorCode::kUnsupported, "is a PNG image of an unknown layout");
  const std::unique_ptr<png_bytep[]> rows(new (std::nothrow) png_bytep[height]);
  if (rows == nullptr)
    return Fail(ErrorCode::kIo, "no memory to decode a PNG image");
  for (std::size_t y = 0; y < height; ++y) {
    rows[y] = reinterpret_cast<png_bytep>(samples.bytes.get() + y * row_size);
  }
  if (!ReadPixels(decoder, rows.get())) return Corrupt(decoder);
  return samples;
}

}  // namespace parity
