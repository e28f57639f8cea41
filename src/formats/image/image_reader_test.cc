#include "formats/image/image_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <turbojpeg.h>
#include <zconf.h>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/testing/damage.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using std::string_literals::operator""s;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing_damage::Copy;

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string BigEndian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string Chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size()));
  return BigEndian(static_cast<std::uint32_t>(data.size())) + body +
         BigEndian(crc);
}

struct PngOptions {
  std::uint32_t width, height;
  char depth, color;  // color types: 0 grey, 2 RGB, 3 palette, 4, 6 with alpha
  std::string rows;   // each with its filter byte
  std::string before_data = {};  // further chunks
};

std::string Png(const PngOptions& options) {
  std::string packed(compressBound(options.rows.size()), '\0');
  uLongf size = packed.size();
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(options.rows.data()),
                     options.rows.size()),
            Z_OK);
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" +
         Chunk("IHDR", BigEndian(options.width) + BigEndian(options.height) +
                           std::string{options.depth, options.color, 0, 0, 0}) +
         options.before_data + Chunk("IDAT", packed) + Chunk("IEND", "");
}

std::string SmallPng() {
  return Png({.width = 2,
              .height = 2,
              .depth = 8,
              .color = 2,
              .rows = "\0\x01\x02\x03\x04\x05\x06\0\x07\x08\x09\xff\0\x80"s});
}

std::string Jpeg(int width, int height, std::span<const unsigned char> pixels,
                 int format, int subsampling) {
  const tjhandle handle = tjInitCompress();
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  EXPECT_EQ(tjCompress2(handle, pixels.data(), width, 0, height, format,
                        &buffer, &size, subsampling, 95, TJFLAG_ACCURATEDCT),
            0);
  std::string file(reinterpret_cast<const char*>(buffer), size);
  tjFree(buffer);
  tjDestroy(handle);
  return file;
}

std::vector<float> Scaled(const std::vector<int>& values, double largest) {
  std::vector<float> scaled;
  scaled.reserve(values.size());
  for (const int value : values)
    scaled.push_back(static_cast<float>(value / largest));
  return scaled;
}

TEST(ImageReaderTest, DamagedPngsAreErrorsOrPictures) {
  const std::string file = SmallPng();
  testing_damage::ForEachTruncation(AsBytes(file), [](const Copy& copy) {
    EXPECT_FALSE(DecodeImage(copy.bytes).has_value());
  });
  testing_damage::ForEachBitFlip(AsBytes(file), [](const Copy& copy) {
    const auto image = DecodeImage(copy.bytes);
    if (image) testing_damage::ExpectReadable({{.name = "", .tensor = *image}});
  });
}

TEST(ImageReaderTest, DamagedJpegsAreErrorsOrPictures) {
  const std::vector<unsigned char> grey(256, 77);
  const std::string file = Jpeg(16, 16, grey, TJPF_GRAY, TJSAMP_GRAY);
  testing_damage::ForEachTruncation(AsBytes(file), [](const Copy& copy) {
    EXPECT_FALSE(DecodeImage(copy.bytes).has_value());
  });
  testing_damage::ForEachBitFlip(AsBytes(file), [](const Copy& copy) {
    const auto image = DecodeImage(copy.bytes);
    if (image) testing_damage::ExpectReadable({{.name = "", .tensor = *image}});
  });
}

TEST(ImageReaderTest, SizesTheFileCannotHoldAreRefusedBeforeAllocating) {
  const std::string large = Png({.width = 1 << 14,
                                 .height = 1 << 14,
                                 .depth = 8,
                                 .color = 2,
                                 .rows = "\0"s});
  const auto truncated = DecodeImage(AsBytes(large));
  ASSERT_FALSE(truncated.has_value());
  EXPECT_EQ(truncated.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(truncated.error().message,
              HasSubstr("cannot hold 16384x16384 pixels"));
  const std::string huge = Png({.width = 1 << 14,
                                .height = (1 << 14) + 1,
                                .depth = 1,
                                .color = 0,
                                .rows = "\0"s});
  const auto beyond = DecodeImage(AsBytes(huge));
  ASSERT_FALSE(beyond.has_value());
  EXPECT_EQ(beyond.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(beyond.error().message, HasSubstr("at most 2^28"));
}

TEST(ImageReaderTest, OtherFilesAreNamed) {
  const auto image = DecodeImage(AsBytes("just text"));
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().message, "is a text file, not a PNG or JPEG image");
  const std::string path = PARITY_TEST_DATA "/checkpoints/dtypes_zip.pth";
  EXPECT_EQ(ReadImage(path).error().message,
            path + ": is a PyTorch checkpoint, not a PNG or JPEG image");
}

TEST(ImageReaderTest, ColoursBecomePlanes) {
  const auto image = DecodeImage(AsBytes(SmallPng()));
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_EQ(image->shape(), (Shape{1, 3, 2, 2}));
  EXPECT_THAT(image->As<float>(),
              ElementsAreArray(
                  Scaled({1, 4, 7, 255, 2, 5, 8, 0, 3, 6, 9, 128}, 255.0)));
}

TEST(ImageReaderTest, SixteenBitsKeepTheirPrecision) {
  const auto image =
      DecodeImage(AsBytes(Png({.width = 1,
                               .height = 1,
                               .depth = 16,
                               .color = 2,
                               .rows = "\0\x12\x34\xff\xff\0\x01"s})));
  ASSERT_TRUE(image.has_value()) << image.error().message;
  EXPECT_THAT(image->As<float>(),
              ElementsAreArray(Scaled({0x1234, 0xFFFF, 1}, 65535.0)));
}

TEST(ImageReaderTest, GreyIsRepeatedAndAlphaDropped) {
  struct Case {
    PngOptions options;
    std::vector<int> expected;
  };
  const std::string palette = Chunk("PLTE", "\x0a\x0b\x0c\x14\x15\x16");
  for (const Case& c : {
           Case{{.width = 2,
                 .height = 1,
                 .depth = 8,
                 .color = 0,
                 .rows = "\0\x07\x09"s},
                {7, 9, 7, 9, 7, 9}},
           Case{{.width = 2,
                 .height = 1,
                 .depth = 1,
                 .color = 0,
                 .rows = "\0\x40"s},
                {0, 255, 0, 255, 0, 255}},
           Case{{.width = 1,
                 .height = 1,
                 .depth = 8,
                 .color = 4,
                 .rows = "\0\x07\x80"s},
                {7, 7, 7}},
           Case{{.width = 1,
                 .height = 1,
                 .depth = 8,
                 .color = 6,
                 .rows = "\0\x07\x08\x09\0"s},
                {7, 8, 9}},
           Case{{.width = 2,
                 .height = 1,
                 .depth = 8,
                 .color = 3,
                 .rows = "\0\x01\0"s,
                 .before_data = palette + Chunk("tRNS", "\x10"s)},
                {20, 10, 21, 11, 22, 12}},
           // A gamma that would change the samples if it were applied.
           Case{{.width = 1,
                 .height = 1,
                 .depth = 8,
                 .color = 2,
                 .rows = "\0\x07\x08\x09"s,
                 .before_data = Chunk("gAMA", BigEndian(100000))},
                {7, 8, 9}},
       }) {
    const auto image = DecodeImage(AsBytes(Png(c.options)));
    ASSERT_TRUE(image.has_value()) << image.error().message;
    EXPECT_THAT(image->As<float>(),
                ElementsAreArray(Scaled(c.expected, 255.0)));
  }
}

TEST(ImageReaderTest, JpegColoursAreInRgbOrder) {
  std::vector<unsigned char> pixels;
  for (int i = 0; i < 17 * 9; ++i) pixels.insert(pixels.end(), {200, 120, 40});
  for (const int subsampling : {TJSAMP_444, TJSAMP_420}) {
    const auto image =
        DecodeImage(AsBytes(Jpeg(17, 9, pixels, TJPF_RGB, subsampling)));
    ASSERT_TRUE(image.has_value()) << image.error().message;
    ASSERT_EQ(image->shape(), (Shape{1, 3, 9, 17}));
    constexpr std::size_t kPixels = 153;
    for (std::size_t i = 0; i < kPixels; ++i) {
      EXPECT_NEAR(image->As<float>()[i], 200 / 255.0, 3 / 255.0);
      EXPECT_NEAR(image->As<float>()[kPixels + i], 120 / 255.0, 3 / 255.0);
      EXPECT_NEAR(image->As<float>()[2 * kPixels + i], 40 / 255.0, 3 / 255.0);
    }
  }
}

TEST(ImageReaderTest, GreyJpegsAreRepeated) {
  // 128 is the value whose blocks are all zero: no rounding on the way.
  const std::vector<unsigned char> grey(64, 128);
  const auto image =
      DecodeImage(AsBytes(Jpeg(8, 8, grey, TJPF_GRAY, TJSAMP_GRAY)));
  ASSERT_TRUE(image.has_value()) << image.error().message;
  for (const float value : image->As<float>())
    EXPECT_EQ(value, static_cast<float>(128 / 255.0));
  EXPECT_EQ(image->element_count(), 3 * 8 * 8);
}

}  // namespace
}  // namespace parity
