// Every CPU target this machine can run, against a plain scalar loop, bit for
// bit.
#include "kernels/compare_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/splitmix.h"

namespace parity {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// Sum i mod 8 takes element i, as the header promises.
struct EightSums {
  std::array<double, 8> at{};
  void Add(std::size_t i, double value) { at[i % 8] += value; }
  [[nodiscard]] double Total() const {
    return ((at[0] + at[4]) + (at[2] + at[6])) +
           ((at[1] + at[5]) + (at[3] + at[7]));
  }
};

template <class T>
PairSums Reference(std::span<const T> expected, std::span<const T> actual,
                   PairBound bound) {
  PairSums sums;
  EightSums error;
  EightSums abs_error;
  EightSums squared_error;
  EightSums squared_expected;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i];
    const double a = actual[i];
    if (!std::isfinite(e) || !std::isfinite(a)) {
      ++sums.nonfinite_count;
      continue;
    }
    const double d = a - e;
    if (d != 0 && !(std::abs(d) < bound.atol + bound.rtol * std::abs(e)))
      ++sums.mismatch_count;
    sums.max_abs_error = std::max(sums.max_abs_error, std::abs(d));
    if (e != 0)
      sums.max_rel_error =
          std::max(sums.max_rel_error, std::abs(d) / std::abs(e));
    sums.max_abs_expected = std::max(sums.max_abs_expected, std::abs(e));
    error.Add(i, d);
    abs_error.Add(i, std::abs(d));
    squared_error.Add(i, d * d);
    squared_expected.Add(i, e * e);
  }
  sums.sum_error = error.Total();
  sums.sum_abs_error = abs_error.Total();
  sums.sum_squared_error = squared_error.Total();
  sums.sum_squared_expected = squared_expected.Total();
  return sums;
}

void ExpectSame(const PairSums& got, const PairSums& want) {
  EXPECT_EQ(got.nonfinite_count, want.nonfinite_count);
  EXPECT_EQ(got.mismatch_count, want.mismatch_count);
  EXPECT_EQ(got.max_abs_error, want.max_abs_error);
  EXPECT_EQ(got.max_rel_error, want.max_rel_error);
  EXPECT_EQ(got.max_abs_expected, want.max_abs_expected);
  EXPECT_EQ(got.sum_error, want.sum_error);
  EXPECT_EQ(got.sum_abs_error, want.sum_abs_error);
  EXPECT_EQ(got.sum_squared_error, want.sum_squared_error);
  EXPECT_EQ(got.sum_squared_expected, want.sum_squared_expected);
}

template <class T>
PairSums SumPairs(std::span<const T> expected, std::span<const T> actual,
                  PairBound bound) {
  if constexpr (std::is_same_v<T, float>) {
    return SumFloatPairs(expected, actual, bound);
  } else {
    return SumDoublePairs(expected, actual, bound);
  }
}

// `count` pairs whose differences are up to `scale`, some expected values 0.
template <class T>
struct Pairs {
  Pairs(std::size_t count, double scale) : expected(count), actual(count) {
    const SplitMixStream stream("pairs", count);
    for (std::size_t i = 0; i < count; ++i) {
      const double value = stream.Uniform(3 * i) - 0.5;
      const bool zero = stream.Uniform(3 * i + 1) < 0.1;
      expected[i] = zero ? T{0} : static_cast<T>(value);
      actual[i] = static_cast<T>(expected[i] +
                                 scale * (stream.Uniform(3 * i + 2) - 0.5));
    }
  }
  std::vector<T> expected;
  std::vector<T> actual;
};

class EveryTargetTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  EveryTargetTest() { ForceCompareTarget(GetParam()); }
  ~EveryTargetTest() override { ForceCompareTarget(0); }
};

INSTANTIATE_TEST_SUITE_P(Targets, EveryTargetTest,
                         ::testing::ValuesIn(RunnableCompareTargets()));

template <class T>
void ExpectReferenceForSizes() {
  for (const std::size_t count :
       std::vector<std::size_t>{0,  1,  2,  3,  4,  5,  7,  8,  9,    15,
                                16, 17, 24, 31, 33, 63, 64, 65, 2047, 2048}) {
    for (const double scale : {0.0, 1e-3, 0.1}) {
      for (const PairBound bound : {PairBound{.atol = 0.005, .rtol = 0},
                                    PairBound{.atol = 0, .rtol = 0},
                                    PairBound{.atol = 1e-4, .rtol = 0.02},
                                    PairBound{.atol = 1, .rtol = -5}}) {
        SCOPED_TRACE(::testing::Message()
                     << count << " pairs, scale " << scale << ", atol "
                     << bound.atol << ", rtol " << bound.rtol);
        const Pairs<T> pairs(count + 1, scale);
        for (const std::size_t offset : std::vector<std::size_t>{0, 1}) {
          const auto expected =
              std::span<const T>(pairs.expected).subspan(offset, count);
          const auto actual =
              std::span<const T>(pairs.actual).subspan(offset, count);
          ExpectSame(SumPairs(expected, actual, bound),
                     Reference(expected, actual, bound));
        }
      }
    }
  }
}

TEST_P(EveryTargetTest, FloatsOfAnyLengthAndAlignmentGiveTheScalarBits) {
  ExpectReferenceForSizes<float>();
}

TEST_P(EveryTargetTest, DoublesOfAnyLengthAndAlignmentGiveTheScalarBits) {
  ExpectReferenceForSizes<double>();
}

template <class T>
void ExpectNonFiniteIsLeftOut() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  constexpr PairBound kBound{.atol = 0.005, .rtol = 0.5};
  struct Case {
    T expected;
    T actual;
  };
  for (std::size_t position = 0; position < 83; ++position) {
    for (const Case& c :
         {Case{kNan, 1}, Case{1, kNan}, Case{kNan, kNan}, Case{kInfinity, 1},
          Case{1, -kInfinity}, Case{kInfinity, kInfinity},
          Case{kInfinity, -kInfinity}, Case{-kInfinity, kNan}}) {
      Pairs<T> pairs(83, 1e-3);
      pairs.expected[position] = c.expected;
      pairs.actual[position] = c.actual;
      const PairSums got = SumPairs<T>(pairs.expected, pairs.actual, kBound);
      EXPECT_EQ(got.nonfinite_count, 1) << position;
      ExpectSame(got, Reference<T>(pairs.expected, pairs.actual, kBound));
    }
  }
}

TEST_P(EveryTargetTest, ANonFiniteFloatAnywhereIsCountedAndLeftOut) {
  ExpectNonFiniteIsLeftOut<float>();
}

TEST_P(EveryTargetTest, ANonFiniteDoubleAnywhereIsCountedAndLeftOut) {
  ExpectNonFiniteIsLeftOut<double>();
}

TEST_P(EveryTargetTest, ExtremeFloatsAreExact) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values = {kMax, -kMax, kTiny, -kTiny,
                                     0.0F, -0.0F, 1.0F,  1.0F + 0x1p-23F};
  std::vector<float> expected;
  std::vector<float> actual;
  for (const float e : values) {
    for (const float a : values) {
      expected.push_back(e);
      actual.push_back(a);
    }
  }
  for (const double atol : {0.0, 1e-30, 1e39})
    ExpectSame(SumFloatPairs(expected, actual, {.atol = atol}),
               Reference<float>(expected, actual, {.atol = atol}));
  EXPECT_EQ(SumFloatPairs(expected, actual, {}).max_abs_error,
            2 * static_cast<double>(kMax));
}

TEST_P(EveryTargetTest, ADifferenceBeyondDoubleIsInfiniteAndNotNonFinite) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const std::vector<double> expected = {-kMax, 1};
  const std::vector<double> actual = {kMax, 1};
  const PairSums sums = SumDoublePairs(expected, actual, {.atol = kMax});
  EXPECT_EQ(sums.nonfinite_count, 0);
  EXPECT_EQ(sums.mismatch_count, 1);
  EXPECT_EQ(sums.max_abs_error, kInf);
}

TEST_P(EveryTargetTest, GivenDifferencesAreTakenAsTheyAre) {
  for (const std::size_t count : std::vector<std::size_t>{0, 1, 7, 8, 9, 100}) {
    const Pairs<double> pairs(count, 0.1);
    std::vector<double> difference(count);
    for (std::size_t i = 0; i < count; ++i)
      difference[i] = pairs.actual[i] - pairs.expected[i];
    const PairBound bound{.atol = 0.01, .rtol = 0.01};
    ExpectSame(SumDifferences(pairs.expected, difference, bound),
               Reference<double>(pairs.expected, pairs.actual, bound));
  }
  // 2^60 and its neighbour are one double; their difference is not zero.
  const PairSums sums =
      SumDifferences(std::array{0x1p60}, std::array{1.0}, {.atol = 0.5});
  EXPECT_EQ(sums.mismatch_count, 1);
  EXPECT_EQ(sums.max_abs_error, 1.0);
}

TEST_P(EveryTargetTest, ARelativeErrorAboveTheKnownOneIsNeverMissed) {
  for (std::size_t count = 1; count < 300; ++count) {
    const Pairs<float> pairs(count, 1e-4);
    const PairBound bound{.atol = 0.005};
    const double truth =
        Reference<float>(pairs.expected, pairs.actual, bound).max_rel_error;
    if (truth == 0) continue;
    // One bit below the truth, the hardest to tell.
    const double below = std::nextafter(truth, 0.0);
    EXPECT_EQ(
        SumFloatPairs(pairs.expected, pairs.actual, bound, below).max_rel_error,
        truth);
    EXPECT_LE(
        SumFloatPairs(pairs.expected, pairs.actual, bound, truth).max_rel_error,
        truth);
  }
}

TEST(CompareTargetTest, ForcingATargetChangesWhichOneRuns) {
  std::set<std::string_view> names;
  for (const std::int64_t target : RunnableCompareTargets()) {
    ForceCompareTarget(target);
    names.insert(CompareKernelTarget());
  }
  ForceCompareTarget(0);
  EXPECT_EQ(names.size(), RunnableCompareTargets().size());
  EXPECT_FALSE(names.empty());
  EXPECT_TRUE(names.contains(CompareKernelTarget()));
}

}  // namespace
}  // namespace parity
