#include "base/byte_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace parity {
namespace {

constexpr std::array kBytes{std::byte{0x01}, std::byte{0x02}, std::byte{0x03},
                            std::byte{'\n'}, std::byte{0xFF}};

TEST(ByteReaderTest, ReadsLittleEndian) {
  ByteReader reader(kBytes);
  EXPECT_EQ(reader.Read<std::uint16_t>(), 0x0201);
  EXPECT_EQ(reader.position(), 2U);
}

TEST(ByteReaderTest, NeverReadsPastTheEnd) {
  ByteReader reader(kBytes, 100);
  ASSERT_TRUE(reader.Take(3).has_value());
  const auto value = reader.Read<std::uint32_t>();
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message,
            "ends too early: 4 bytes wanted at offset 103, 2 left");
  EXPECT_FALSE(reader.Take(~std::uint64_t{0}).has_value());
  EXPECT_FALSE(reader.Seek(6).has_value());
  EXPECT_TRUE(reader.Seek(5).has_value());
  EXPECT_TRUE(reader.Take(0).has_value());
}

TEST(ByteReaderTest, LinesEndAtTheirNewline) {
  ByteReader reader(kBytes);
  EXPECT_EQ(reader.TakeLine(), "\x01\x02\x03");
  EXPECT_EQ(reader.position(), 4U);
  EXPECT_FALSE(reader.TakeLine().has_value());
}

}  // namespace
}  // namespace parity
