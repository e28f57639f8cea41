#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace parity {
namespace {

TEST(HalfTest, EveryHalfSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = FloatFromHalf(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FloatFromHalf(HalfFromFloat(value))));
    } else {
      ASSERT_EQ(HalfFromFloat(value), half) << value;
    }
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  EXPECT_EQ(HalfFromFloat(1.0F + 0x1p-11F),
            0x3C00);  // a tie goes to the even neighbour
  EXPECT_EQ(HalfFromFloat(1.0F + 3 * 0x1p-11F), 0x3C02);
  EXPECT_EQ(HalfFromFloat(std::nextafter(1.0F + 0x1p-11F, 2.0F)), 0x3C01);
  EXPECT_EQ(HalfFromFloat(65519.996F), 0x7BFF);  // largest finite half is 65504
  EXPECT_EQ(HalfFromFloat(65520.0F), 0x7C00);
  EXPECT_EQ(HalfFromFloat(0x1p-25F),
            0x0000);  // half the smallest subnormal: to even
  EXPECT_EQ(HalfFromFloat(std::nextafter(0x1p-25F, 1.0F)), 0x0001);
  EXPECT_EQ(HalfFromFloat(-0.0F), 0x8000);
  EXPECT_EQ(HalfFromFloat(-std::numeric_limits<float>::infinity()), 0xFC00);
}

TEST(HalfTest, NeighboursAndMidpointsOfEveryHalfRoundCorrectly) {
  for (std::uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const float low = FloatFromHalf(static_cast<std::uint16_t>(bits));
    const float high = FloatFromHalf(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    ASSERT_EQ(HalfFromFloat(middle), (bits & 1U) != 0 ? bits + 1 : bits);
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, 0.0F)), bits);
    ASSERT_EQ(HalfFromFloat(std::nextafter(middle, 1e9F)), bits + 1);
  }
}

TEST(BFloat16Test, EveryValueSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const float value = FloatFromBFloat16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(FloatFromBFloat16(BFloat16FromFloat(value))));
    } else {
      ASSERT_EQ(BFloat16FromFloat(value), bits);
    }
  }
  EXPECT_EQ(BFloat16FromFloat(std::bit_cast<float>(0x3F808000U)),
            0x3F80);  // tie to even
  EXPECT_EQ(BFloat16FromFloat(std::bit_cast<float>(0x3F818000U)), 0x3F82);
}

}  // namespace
}  // namespace parity
