#include "generate/normal_quantile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace parity {
namespace {

// Lower tail probability, by the C library.
double Probability(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

TEST(NormalQuantileTest, IsTheInverseOfTheDistributionFunction) {
  // From the far tail over both borders (q = 0.425, r = 5) to the middle.
  for (double p = 0x1p-53; p < 0.5; p *= 1.01)
    EXPECT_NEAR(Probability(NormalQuantile(p)) / p, 1, 1e-13) << p;
}

TEST(NormalQuantileTest, IsOddAndIncreasing) {
  EXPECT_EQ(NormalQuantile(0.5), 0);
  double last = -std::numeric_limits<double>::infinity();
  for (int i = 1; i < 4096; ++i) {
    const double z = NormalQuantile(i / 4096.0);
    EXPECT_GT(z, last);
    EXPECT_EQ(z, -NormalQuantile(1 - i / 4096.0));
    last = z;
  }
}

TEST(NormalQuantileTest, TabulatedValues) {
  EXPECT_NEAR(NormalQuantile(0.975), 1.959963984540054, 5e-16);
  EXPECT_NEAR(NormalQuantile(0.25), -0.6744897501960817, 2e-16);
  EXPECT_NEAR(NormalQuantile(0.001), -3.090232306167813, 1e-15);
  EXPECT_NEAR(NormalQuantile(1e-20), -9.262340089798408, 4e-15);
}

TEST(NormalQuantileTest, BitsArePinned) {
  EXPECT_EQ(NormalQuantile(0.3), -0x1.0c7e39582c5fap-1);
  EXPECT_EQ(NormalQuantile(0.01), -0x1.29c5c4630ff0ep+1);
  EXPECT_EQ(NormalQuantile(1e-13), -0x1.d652ace3a013p+2);
}

}  // namespace
}  // namespace parity
