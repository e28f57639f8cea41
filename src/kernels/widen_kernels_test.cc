#include "kernels/widen_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/half.h"
#include "kernels/compare_kernels.h"

namespace parity {
namespace {

void ExpectSame(float got, float want, std::uint16_t bits) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << bits;
  } else {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(got),
              std::bit_cast<std::uint32_t>(want))
        << bits;
  }
}

TEST(WidenKernelsTest, EveryValueOfBothFormatsIsWidenedExactlyOnEveryTarget) {
  std::vector<std::uint16_t> all(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  std::vector<float> halves(all.size());
  std::vector<float> brains(all.size());
  for (const std::int64_t target : RunnableCompareTargets()) {
    ForceCompareTarget(target);
    SCOPED_TRACE(CompareKernelTarget());
    WidenHalves(all, halves);
    WidenBFloat16s(all, brains);
    for (const std::uint16_t bits : all) {
      ExpectSame(halves[bits], FloatFromHalf(bits), bits);
      ExpectSame(brains[bits], FloatFromBFloat16(bits), bits);
    }
  }
  ForceCompareTarget(0);
}

TEST(WidenKernelsTest, AnyLengthAndAlignmentStaysInsideItsSpan) {
  constexpr std::uint16_t kOne = 0x3C00;
  for (const std::int64_t target : RunnableCompareTargets()) {
    ForceCompareTarget(target);
    for (std::size_t count = 0; count < 70; ++count) {
      const std::vector<std::uint16_t> in(count + 1, kOne);
      std::vector<float> out(count + 2, -1.0F);
      WidenHalves(std::span(in).subspan(1), std::span(out).subspan(1, count));
      EXPECT_EQ(out.front(), -1.0F);
      EXPECT_EQ(out.back(), -1.0F);
      for (std::size_t i = 1; i <= count; ++i) EXPECT_EQ(out[i], 1.0F);
    }
  }
  ForceCompareTarget(0);
}

}  // namespace
}  // namespace parity
