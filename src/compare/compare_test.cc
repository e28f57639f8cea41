#include "parity/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
#include "base/splitmix.h"
#include "kernels/compare_kernels.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor Make(DType dtype, const std::vector<T>& values) {
  return *Tensor::From<T>(dtype, {static_cast<std::int64_t>(values.size())},
                          values);
}

Tensor Floats(const std::vector<float>& values) {
  return Make(DType::kFloat32, values);
}

Comparison CompareOf(const Tensor& expected, const Tensor& actual,
                     const Tolerance& tolerance = {},
                     const CompareOptions& options = {}) {
  const auto result =
      Compare(expected.view(), actual.view(), tolerance, options);
  EXPECT_TRUE(result.has_value())
      << (result ? std::string() : result.error().message);
  return result.value_or(Comparison{});
}

// All fields, bit for bit.
auto Bits(const Comparison& comparison) {
  static_assert(sizeof(Comparison) % sizeof(std::uint64_t) == 0);
  return std::bit_cast<
      std::array<std::uint64_t, sizeof(Comparison) / sizeof(std::uint64_t)>>(
      comparison);
}

void Count(double value, NonFiniteCounts& counts) {
  counts.nan += std::isnan(value) ? 1 : 0;
  counts.positive_infinity += std::isinf(value) && value > 0 ? 1 : 0;
  counts.negative_infinity += std::isinf(value) && value < 0 ? 1 : 0;
}

// What the header says, one element after the other.
Comparison Reference(std::span<const double> expected,
                     std::span<const double> actual,
                     const Tolerance& tolerance) {
  Comparison r;
  long double error = 0;
  long double abs_error = 0;
  long double squares = 0;
  long double expected_squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const double e = expected[i];
    const double a = actual[i];
    ++r.element_count;
    if (!IsClose(e, a, tolerance) && r.mismatch_count++ == 0)
      r.first_mismatch = index;
    Count(e, r.expected_nonfinite);
    Count(a, r.actual_nonfinite);
    if (!std::isfinite(e) || !std::isfinite(a)) {
      const bool same = e == a || (std::isnan(e) && std::isnan(a));
      if (!same && r.nonfinite_disagreements++ == 0)
        r.first_nonfinite_disagreement = index;
      continue;
    }
    const double d = a - e;
    if (r.compared_count++ == 0 || std::abs(d) > r.max_abs_error) {
      r.max_abs_error = std::abs(d);
      r.max_abs_index = index;
      r.expected_at_max = e;
      r.actual_at_max = a;
    }
    if (e != 0)
      r.max_rel_error = std::max(r.max_rel_error, std::abs(d) / std::abs(e));
    r.max_abs_expected = std::max(r.max_abs_expected, std::abs(e));
    error += d;
    abs_error += std::abs(d);
    squares += static_cast<long double>(d) * d;
    expected_squares += static_cast<long double>(e) * e;
  }
  if (r.compared_count > 0) {
    const auto n = static_cast<long double>(r.compared_count);
    r.mean_error = static_cast<double>(error / n);
    r.mean_abs_error = static_cast<double>(abs_error / n);
    r.rms_error = static_cast<double>(std::sqrt(squares / n));
    r.expected_rms = static_cast<double>(std::sqrt(expected_squares / n));
  }
  return r;
}

void ExpectNear(const Comparison& got, const Comparison& want) {
  constexpr double kRounding = 1e-13;
  EXPECT_NEAR(got.mean_error, want.mean_error, kRounding * want.mean_abs_error);
  EXPECT_NEAR(got.mean_abs_error, want.mean_abs_error,
              kRounding * want.mean_abs_error);
  EXPECT_NEAR(got.rms_error, want.rms_error, kRounding * want.rms_error);
  EXPECT_NEAR(got.expected_rms, want.expected_rms,
              kRounding * want.expected_rms);
  // All that remains is exact.
  Comparison same = got;
  same.mean_error = want.mean_error;
  same.mean_abs_error = want.mean_abs_error;
  same.rms_error = want.rms_error;
  same.expected_rms = want.expected_rms;
  EXPECT_EQ(Bits(same), Bits(want))
      << "mismatches " << got.mismatch_count << " of " << want.mismatch_count
      << ", max at " << got.max_abs_index << " not " << want.max_abs_index;
}

// Random floats; the differences are up to `scale`.
std::pair<std::vector<float>, std::vector<float>> RandomPairs(std::size_t count,
                                                              double scale) {
  std::vector<float> expected(count);
  std::vector<float> actual(count);
  const SplitMixStream stream("compare", count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = static_cast<float>(stream.Uniform(2 * i) - 0.3);
    actual[i] = static_cast<float>(expected[i] +
                                   scale * (stream.Uniform(2 * i + 1) - 0.4));
  }
  return {std::move(expected), std::move(actual)};
}

std::vector<double> Widened(std::span<const float> values) {
  return {values.begin(), values.end()};
}

TEST(CompareTest, NanOnOneSideIsAMismatchWhereverItIs) {
  // Straddles vectors, spans and blocks.
  const std::vector<std::size_t> positions = [] {
    std::vector<std::size_t> all(40);
    std::iota(all.begin(), all.end(), 0U);
    for (const std::size_t edge : std::vector<std::size_t>{2048, 65536, 131072})
      for (std::size_t i = edge - 9; i <= edge + 9; ++i) all.push_back(i);
    return all;
  }();
  auto [expected, actual] = RandomPairs(131072 + 10, 1e-3);
  for (const std::size_t position : positions) {
    for (const float bad : {kNan, kInf, -kInf}) {
      const float kept = std::exchange(actual[position], bad);
      const Comparison c = CompareOf(Floats(expected), Floats(actual));
      actual[position] = kept;
      EXPECT_FALSE(c.matches());
      EXPECT_EQ(c.mismatch_count, 1);
      EXPECT_EQ(c.actual_nonfinite.total(), 1);
      EXPECT_EQ(c.expected_nonfinite.total(), 0);
      EXPECT_EQ(c.nonfinite_disagreements, 1);
      EXPECT_EQ(c.first_mismatch, static_cast<std::int64_t>(position));
      EXPECT_EQ(c.first_nonfinite_disagreement,
                static_cast<std::int64_t>(position));
      EXPECT_TRUE(std::isfinite(c.rms_error));
    }
  }
}

TEST(CompareTest, AnInfiniteExpectedValueForgivesNothing) {
  const Comparison c =
      CompareOf(Floats({kInf, -kInf, kInf, kInf}),
                Floats({3, kInf, kNan, kInf}), {.atol = 1, .rtol = 1});
  EXPECT_EQ(c.mismatch_count, 3);
  EXPECT_EQ(c.nonfinite_disagreements, 3);
  EXPECT_EQ(c.compared_count, 0);
  EXPECT_EQ(c.max_abs_index, -1);
}

TEST(CompareTest, NonFiniteValuesAtTheSamePlacesMatchAndAreReported) {
  const Tensor both = Floats({1, kNan, kInf, -kInf, kNan});
  const Comparison c = CompareOf(both, both);
  EXPECT_TRUE(c.matches());
  EXPECT_EQ(c.expected_nonfinite.nan, 2);
  EXPECT_EQ(c.actual_nonfinite.positive_infinity, 1);
  EXPECT_EQ(c.actual_nonfinite.negative_infinity, 1);
  EXPECT_EQ(c.nonfinite_disagreements, 0);
  EXPECT_EQ(c.first_nonfinite_disagreement, -1);

  const Comparison strict = CompareOf(both, both, {.equal_nonfinite = false});
  EXPECT_EQ(strict.mismatch_count, 4);
  EXPECT_EQ(strict.first_mismatch, 1);
  EXPECT_EQ(strict.nonfinite_disagreements, 0);
}

TEST(CompareTest, NothingComparedIsNoMatch) {
  const Tensor empty = *Tensor::Allocate(DType::kFloat32, {2, 0, 3});
  const Comparison c = CompareOf(empty, empty);
  EXPECT_FALSE(c.matches());
  EXPECT_EQ(c.element_count, 0);
  EXPECT_EQ(c.max_abs_index, -1);
  EXPECT_EQ(c.first_mismatch, -1);
}

TEST(CompareTest, ShapesAreNotBroadcast) {
  const Tensor expected = *Tensor::Allocate(DType::kFloat32, {2, 3});
  for (const Shape& shape :
       {Shape{1, 3}, Shape{3, 2}, Shape{6}, Shape{2, 3, 1}, Shape{}}) {
    const Tensor actual = *Tensor::Allocate(DType::kFloat32, shape);
    const auto result = Compare(expected.view(), actual.view(), {});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kIncompatible);
    EXPECT_EQ(result.error().message,
              "shapes differ: expected 2x3, actual " + ToString(shape));
  }
}

TEST(CompareTest, DtypesOfDifferentClassesAreRefusedByName) {
  struct Case {
    DType expected;
    DType actual;
    ErrorCode code;
  };
  for (const Case& c :
       {Case{DType::kFloat32, DType::kInt64, ErrorCode::kIncompatible},
        Case{DType::kInt32, DType::kInt64, ErrorCode::kIncompatible},
        Case{DType::kBool, DType::kUInt8, ErrorCode::kIncompatible},
        Case{DType::kComplex64, DType::kComplex64, ErrorCode::kUnsupported},
        Case{DType::kFloat32, DType::kComplex128, ErrorCode::kUnsupported}}) {
    const Tensor expected = *Tensor::Allocate(c.expected, {4});
    const Tensor actual = *Tensor::Allocate(c.actual, {4});
    const auto result = Compare(expected.view(), actual.view(), {});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, c.code);
    EXPECT_NE(result.error().message.find(Name(c.actual)), std::string::npos)
        << result.error().message;
  }
}

TEST(CompareTest, AViewWhoseBytesDoNotFitItsShapeIsRefused) {
  const Tensor good = *Tensor::Allocate(DType::kFloat32, {4});
  for (const std::size_t size : std::vector<std::size_t>{0, 12, 15}) {
    TensorView bad = good.view();
    bad.bytes = bad.bytes.first(size);
    const auto result = Compare(good.view(), bad, {});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kCorrupt);
  }
}

TEST(CompareTest, EveryLengthAndAlignmentGivesTheScalarResult) {
  for (const std::size_t count :
       std::vector<std::size_t>{1, 2, 7, 8, 9, 2047, 2048, 2049, 4095, 65535,
                                65536, 65537, 200000}) {
    for (const double scale : {0.0, 1e-3, 0.02}) {
      SCOPED_TRACE(::testing::Message() << count << " pairs, " << scale);
      const auto [expected, actual] = RandomPairs(count + 1, scale);
      const Tolerance tolerance{.atol = 0.004, .rtol = 0.001};
      const Shape shape{static_cast<std::int64_t>(count)};
      for (const std::size_t offset : std::vector<std::size_t>{0, 1}) {
        const auto e = std::span(expected).subspan(offset, count);
        const auto a = std::span(actual).subspan(offset, count);
        const TensorView expected_view{.dtype = DType::kFloat32,
                                       .shape = shape,
                                       .bytes = std::as_bytes(e)};
        const TensorView actual_view{.dtype = DType::kFloat32,
                                     .shape = shape,
                                     .bytes = std::as_bytes(a)};
        ExpectNear(*Compare(expected_view, actual_view, tolerance),
                   Reference(Widened(e), Widened(a), tolerance));
      }
    }
  }
}

TEST(CompareTest, HostileValuesAmongOthersGiveTheScalarResult) {
  auto [expected, actual] = RandomPairs(20000, 0.02);
  const std::array hostile = {kNan, kInf, -kInf, 0.0F, -0.0F, 3e38F, 1e-45F};
  const SplitMixStream stream("hostile", 1);
  for (std::size_t i = 0; i < 200; ++i) {
    const auto pick = [&](std::uint64_t k) {
      return static_cast<std::size_t>(stream.Bits(4 * i + k));
    };
    expected[pick(0) % 20000] = hostile[pick(1) % hostile.size()];
    actual[pick(2) % 20000] = hostile[pick(3) % hostile.size()];
  }
  for (const bool equal : {true, false}) {
    const Tolerance tolerance{
        .atol = 0.005, .rtol = 0.01, .equal_nonfinite = equal};
    ExpectNear(CompareOf(Floats(expected), Floats(actual), tolerance),
               Reference(Widened(expected), Widened(actual), tolerance));
  }
}

TEST(CompareTest, TheFirstOfEqualLargestDifferencesIsNamed) {
  std::vector<float> expected(300000, 1.0F);
  std::vector<float> actual = expected;
  EXPECT_EQ(CompareOf(Floats(expected), Floats(actual)).max_abs_index, 0);
  for (const std::size_t i : std::vector<std::size_t>{70000, 70001, 250000})
    actual[i] = 1.5F;
  actual[71000] = 1.25F;
  const Comparison c = CompareOf(Floats(expected), Floats(actual));
  EXPECT_EQ(c.max_abs_index, 70000);
  EXPECT_EQ(c.expected_at_max, 1.0);
  EXPECT_EQ(c.actual_at_max, 1.5);
  EXPECT_EQ(c.first_mismatch, 70000);
  EXPECT_EQ(c.mismatch_count, 4);
  EXPECT_EQ(c.max_rel_error, 0.5);
}

TEST(CompareTest, TheResultIsTheSameBitsForAnyNumberOfThreadsAndCpuTarget) {
  for (const double scale : {1e-3, 0.02}) {
    const auto [expected, actual] = RandomPairs(1'300'001, scale);
    const Tensor e = Floats(expected);
    const Tensor a = Floats(actual);
    const auto want = Bits(CompareOf(e, a, {}, {.threads = 1}));
    for (const int threads : {0, 2, 3, 7})
      EXPECT_EQ(Bits(CompareOf(e, a, {}, {.threads = threads})), want)
          << threads;
    for (const std::int64_t target : RunnableCompareTargets()) {
      ForceCompareTarget(target);
      EXPECT_EQ(Bits(CompareOf(e, a)), want) << CompareKernelTarget();
    }
    ForceCompareTarget(0);
  }
}

TEST(CompareTest, MeansStayExactOverMillionsOfElements) {
  // 0.1F summed 3 million times in float32 is off by 10 %.
  const std::vector<float> zeros(3'000'000, 0.0F);
  const std::vector<float> tenths(3'000'000, 0.1F);
  const Comparison c = CompareOf(Floats(zeros), Floats(tenths));
  const double tenth = 0.1F;
  EXPECT_NEAR(c.mean_error, tenth, 1e-15);
  EXPECT_NEAR(c.mean_abs_error, tenth, 1e-15);
  EXPECT_NEAR(c.rms_error, tenth, 1e-15);
}

TEST(CompareTest, EveryHalfAgreesWithItselfAndEveryHalfDiffersFromAnother) {
  std::vector<std::uint16_t> all(65536);
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Tensor same = Make(dtype, all);
    const Comparison c = CompareOf(same, same, {.atol = 0, .rtol = 0});
    EXPECT_TRUE(c.matches());
    EXPECT_EQ(c.max_abs_error, 0);
    EXPECT_EQ(c.expected_nonfinite.nan,
              dtype == DType::kFloat16 ? 2 * 1023 : 2 * 127);
    EXPECT_EQ(c.actual_nonfinite.positive_infinity, 1);
    EXPECT_EQ(c.actual_nonfinite.negative_infinity, 1);

    std::vector<std::uint16_t> next(65536);
    std::iota(next.begin(), next.end(), std::uint16_t{1});
    std::vector<double> expected;
    std::vector<double> actual;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto widen =
          dtype == DType::kFloat16 ? FloatFromHalf : FloatFromBFloat16;
      expected.push_back(widen(all[i]));
      actual.push_back(widen(next[i]));
    }
    const Tolerance tolerance{.atol = 0.001, .rtol = 0.001};
    ExpectNear(CompareOf(same, Make(dtype, next), tolerance),
               Reference(expected, actual, tolerance));
  }
}

TEST(CompareTest, FloatingDtypesAreComparedWithEachOther) {
  const std::vector<double> values = {1, 0.5, -0.25, 65504, 0, 3};
  std::vector<Tensor> tensors = {Make(DType::kFloat64, values)};
  std::vector<float> floats;
  std::vector<std::uint16_t> halves;
  for (const double value : values) {
    floats.push_back(static_cast<float>(value));
    halves.push_back(HalfFromFloat(floats.back()));
  }
  tensors.push_back(Floats(floats));
  tensors.push_back(Make(DType::kFloat16, halves));
  for (const Tensor& e : tensors) {
    for (const Tensor& a : tensors) {
      const Comparison c = CompareOf(e, a, {.atol = 0, .rtol = 0});
      EXPECT_TRUE(c.matches()) << Name(e.dtype()) << " " << Name(a.dtype());
      EXPECT_EQ(c.max_abs_expected, 65504);
    }
  }
  // Widened, not narrowed: 0.1 is neither 0.1F nor a half.
  const Comparison c = CompareOf(Make<double>(DType::kFloat64, {0.1}),
                                 Floats({0.1F}), {.atol = 0, .rtol = 0});
  EXPECT_EQ(c.max_abs_error, static_cast<double>(0.1F) - 0.1);
}

TEST(CompareTest, Float64DifferencesBelowFloat32AreSeen) {
  const Comparison c =
      CompareOf(Make<double>(DType::kFloat64, {1, 2}),
                Make<double>(DType::kFloat64, {1, 2 + 1e-12}), {.atol = 1e-13});
  EXPECT_EQ(c.mismatch_count, 1);
  EXPECT_EQ(c.first_mismatch, 1);
}

template <class T>
void ExpectIntegersCompared(DType dtype) {
  constexpr T kLow = std::numeric_limits<T>::min();
  constexpr T kHigh = std::numeric_limits<T>::max();
  const Tensor expected = Make<T>(dtype, {kLow, 5, kHigh, 7});
  const Tensor actual = Make<T>(dtype, {kHigh, 5, kHigh, 8});
  const Comparison c = CompareOf(expected, actual, {.atol = 1.5});
  SCOPED_TRACE(Name(dtype));
  EXPECT_EQ(c.mismatch_count, 1);
  EXPECT_EQ(c.first_mismatch, 0);
  EXPECT_EQ(
      c.max_abs_error,
      std::ldexp(1.0, std::numeric_limits<T>::digits + (kLow < 0 ? 1 : 0)) - 1);
  EXPECT_EQ(c.max_abs_index, 0);
  EXPECT_EQ(CompareOf(expected, actual, {.atol = 1}).mismatch_count, 2);
}

TEST(CompareTest, IntegersOfAllWidthsAreComparedOverTheirWholeRange) {
  ExpectIntegersCompared<std::int8_t>(DType::kInt8);
  ExpectIntegersCompared<std::int16_t>(DType::kInt16);
  ExpectIntegersCompared<std::int32_t>(DType::kInt32);
  ExpectIntegersCompared<std::int64_t>(DType::kInt64);
  ExpectIntegersCompared<std::uint8_t>(DType::kUInt8);
  ExpectIntegersCompared<std::uint16_t>(DType::kUInt16);
  ExpectIntegersCompared<std::uint32_t>(DType::kUInt32);
  ExpectIntegersCompared<std::uint64_t>(DType::kUInt64);
}

TEST(CompareTest, NeighboursBeyondTwoToThe53AreToldApart) {
  constexpr std::int64_t kBig = (std::int64_t{1} << 60) + 1;
  const Comparison c =
      CompareOf(Make<std::int64_t>(DType::kInt64, {kBig, -kBig, kBig}),
                Make<std::int64_t>(DType::kInt64, {kBig, -kBig - 1, kBig + 1}));
  EXPECT_EQ(c.mismatch_count, 2);
  EXPECT_EQ(c.first_mismatch, 1);
  EXPECT_EQ(c.max_abs_error, 1);
  EXPECT_EQ(c.mean_error, 0);

  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(CompareOf(Make<std::uint64_t>(DType::kUInt64, {kTop - 1}),
                      Make<std::uint64_t>(DType::kUInt64, {kTop}))
                .mismatch_count,
            1);
}

TEST(CompareTest, AnyNonzeroBoolIsTrue) {
  const Comparison c =
      CompareOf(Make<std::uint8_t>(DType::kBool, {0, 1, 255, 0, 1}),
                Make<std::uint8_t>(DType::kBool, {0, 1, 1, 2, 0}));
  EXPECT_EQ(c.mismatch_count, 2);
  EXPECT_EQ(c.first_mismatch, 3);
  EXPECT_EQ(c.max_abs_error, 1);
}

}  // namespace
}  // namespace parity
