#include "generate/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/splitmix.h"

namespace parity {
namespace {

TEST(PortableLogTest, AgreesWithTheCLibraryToTheLastBits) {
  const SplitMixStream stream("log", 0);
  for (std::uint64_t i = 0; i < 200000; ++i) {
    // All exponents, all mantissas.
    const int exponent = static_cast<int>(stream.Bits(2 * i) % 2045) - 1022;
    const double x = std::ldexp(1 + stream.Uniform(2 * i + 1), exponent);
    const double want = std::log(x);
    EXPECT_NEAR(PortableLog(x), want, 4e-16 * std::abs(want) + 2e-16) << x;
  }
}

TEST(PortableLogTest, PowersOfTwoAndTheNeighboursOfOne) {
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableLog(2), std::numbers::ln2);
  EXPECT_EQ(PortableLog(0.5), -std::numbers::ln2);
  EXPECT_EQ(PortableLog(1024), 10 * std::numbers::ln2);
  EXPECT_EQ(PortableLog(1 + 0x1p-52), 0x1p-52);
  EXPECT_EQ(PortableLog(1 - 0x1p-53), -0x1p-53);
  EXPECT_NEAR(PortableLog(std::numeric_limits<double>::min()),
              -1022 * std::numbers::ln2, 2e-13);
}

TEST(PortableLogTest, BitsArePinned) {
  EXPECT_EQ(PortableLog(0.01), -0x1.26bb1bbb55516p+2);
  EXPECT_EQ(PortableLog(3), 0x1.193ea7aad030bp+0);
}

TEST(SinTurnsTest, AgreesWithTheCLibrary) {
  for (int i = -4000; i <= 4000; ++i) {
    // Odd steps, so that no symmetry hides an error.
    const double turns = i / 1013.0;
    EXPECT_NEAR(SinTurns(turns), std::sin(2 * std::numbers::pi * turns), 6e-15)
        << turns;
    EXPECT_NEAR(CosTurns(turns), std::cos(2 * std::numbers::pi * turns), 6e-15)
        << turns;
  }
}

TEST(SinTurnsTest, QuarterTurnsAreExact) {
  const double sines[] = {0, 1, 0, -1};
  for (int quarter = -40; quarter <= 40; ++quarter) {
    const double turns = quarter / 4.0;
    EXPECT_EQ(SinTurns(turns), sines[quarter & 3]) << turns;
    EXPECT_EQ(CosTurns(turns), sines[(quarter + 1) & 3]) << turns;
  }
}

TEST(SinTurnsTest, BitsArePinned) {
  EXPECT_EQ(SinTurns(0.1), 0x1.2cf2304755a5ep-1);
  EXPECT_EQ(SinTurns(123.456), 0x1.1780b651b4f97p-2);
}

}  // namespace
}  // namespace parity
