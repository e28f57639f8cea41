#include "generate/element_writer.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/half.h"
#include "parity/dtype.h"

namespace parity {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
std::vector<T> Written(DType dtype, const std::vector<double>& values) {
  std::vector<T> out(values.size());
  WriteElements(dtype, std::as_writable_bytes(std::span(out)), 0, values);
  return out;
}

TEST(HalfFromDoubleTest, RoundsOnceWhereTwoRoundingsDiffer) {
  // Just above the middle between 1 and its successor; float32 rounds it to
  // the middle, from where "to even" would go down.
  EXPECT_EQ(HalfFromDouble(1 + 0x1p-11 + 0x1p-40), 0x3C01);
  EXPECT_EQ(HalfFromFloat(static_cast<float>(1 + 0x1p-11 + 0x1p-40)), 0x3C00);
  EXPECT_EQ(HalfFromDouble(1 + 0x1p-11), 0x3C00);
  EXPECT_EQ(HalfFromDouble(1 + 3 * 0x1p-11 - 0x1p-40), 0x3C01);
  EXPECT_EQ(HalfFromDouble(-(1 + 0x1p-11 + 0x1p-40)), 0xBC01);
  EXPECT_EQ(BFloat16FromDouble(1 + 0x1p-8 + 0x1p-40), 0x3F81);
  EXPECT_EQ(BFloat16FromDouble(1 + 0x1p-8), 0x3F80);
}

TEST(HalfFromDoubleTest, EndsOfTheRange) {
  EXPECT_EQ(HalfFromDouble(65504), 0x7BFF);
  EXPECT_EQ(HalfFromDouble(65519.999999999), 0x7BFF);
  EXPECT_EQ(HalfFromDouble(65520), 0x7C00);
  EXPECT_EQ(HalfFromDouble(1e300), 0x7C00);
  EXPECT_EQ(HalfFromDouble(-kInf), 0xFC00);
  EXPECT_EQ(HalfFromDouble(0x1p-24), 0x0001);
  EXPECT_EQ(HalfFromDouble(0x1p-25), 0x0000);
  EXPECT_EQ(HalfFromDouble(0x1p-25 + 0x1p-60), 0x0001);
  EXPECT_EQ(HalfFromDouble(1e-300), 0x0000);
  EXPECT_EQ(HalfFromDouble(-0.0), 0x8000);
  EXPECT_TRUE(std::isnan(FloatFromHalf(HalfFromDouble(kNan))));
  EXPECT_TRUE(std::isnan(FloatFromBFloat16(BFloat16FromDouble(kNan))));
  EXPECT_EQ(BFloat16FromDouble(1e300), 0x7F80);
}

TEST(HalfFromDoubleTest, EveryHalfAndTheMiddlesBetweenThem) {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = FloatFromHalf(bits);
    const auto next = static_cast<std::uint16_t>(bits + 1);
    const double high = FloatFromHalf(next);
    const double middle = (low + high) / 2;
    EXPECT_EQ(HalfFromDouble(low), bits);
    EXPECT_EQ(HalfFromDouble(middle), bits % 2 == 0 ? bits : next);
    EXPECT_EQ(HalfFromDouble(std::nextafter(middle, 0.0)), bits);
    EXPECT_EQ(HalfFromDouble(std::nextafter(middle, kInf)), next);
  }
}

TEST(WriteElementsTest, IntegersAreRoundedAndKeptInRange) {
  const std::vector<double> values = {-0.5, 0.49, 2.5,  -1e30,
                                      1e30, kInf, kNan, -kInf};
  EXPECT_EQ(Written<std::int8_t>(DType::kInt8, values),
            (std::vector<std::int8_t>{-1, 0, 3, -128, 127, 127, 0, -128}));
  EXPECT_EQ(Written<std::uint8_t>(DType::kUInt8, values),
            (std::vector<std::uint8_t>{0, 0, 3, 0, 255, 255, 0, 0}));
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Written<std::int64_t>(DType::kInt64, values),
            (std::vector<std::int64_t>{-1, 0, 3, kLow, kHigh, kHigh, 0, kLow}));
  EXPECT_EQ(
      Written<std::uint64_t>(DType::kUInt64, {0x1p64, 0x1p63, -1}),
      (std::vector<std::uint64_t>{std::numeric_limits<std::uint64_t>::max(),
                                  std::uint64_t{1} << 63, 0}));
  EXPECT_EQ(Written<std::uint8_t>(DType::kBool, {0, -0.0, 0.5, 2, kNan}),
            (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
}

TEST(WriteElementsTest, WritesOnlyTheElementsNamed) {
  std::array<float, 4> out = {9, 9, 9, 9};
  WriteElements(DType::kFloat32, std::as_writable_bytes(std::span(out)), 1,
                std::array{1.0, 2.0});
  EXPECT_EQ(out, (std::array<float, 4>{9, 1, 2, 9}));
}

}  // namespace
}  // namespace parity
