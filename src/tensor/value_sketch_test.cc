#include "tensor/value_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/splitmix.h"
#include "parity/dtype.h"

namespace parity {
namespace {

std::vector<double> Values(std::int64_t count, std::uint64_t seed) {
  const SplitMixStream stream("values", seed);
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(stream.Uniform(static_cast<std::uint64_t>(i)) - 0.5);
  return values;
}

template <class T>
ValueSketch Sketch(DType dtype, const std::vector<T>& values) {
  const std::array<std::int64_t, 1> shape = {
      static_cast<std::int64_t>(values.size())};
  return SketchOf({.dtype = dtype,
                   .shape = shape,
                   .bytes = std::as_bytes(std::span(values))});
}

TEST(ValueSketchTest, EqualValuesHaveNoDistance) {
  const std::vector<double> values = Values(1000, 1);
  const ValueSketch sketch = Sketch(DType::kFloat64, values);
  EXPECT_EQ(RelativeDistance(sketch, sketch), 0);
  EXPECT_EQ(UnorderedDistance(sketch, sketch), 0);
  EXPECT_EQ(RelativeDistance(ValueSketch{}, ValueSketch{}), 0);
}

TEST(ValueSketchTest, DistanceIsTheRelativeDifferenceWithinAFactorOfThree) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const std::vector<double> values = Values(5000, seed);
    const std::vector<double> noise = Values(5000, seed + 1000);
    std::vector<double> moved = values;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += 1e-3 * noise[i];
    const double distance = RelativeDistance(Sketch(DType::kFloat64, values),
                                             Sketch(DType::kFloat64, moved));
    EXPECT_GT(distance, 1e-3 / 3) << seed;
    EXPECT_LT(distance, 1e-3 * 3) << seed;
  }
}

TEST(ValueSketchTest, OneChangedElementIsSeen) {
  const std::vector<double> values = Values(100'000, 2);
  std::vector<double> moved = values;
  moved[77'777] += 0.1;
  EXPECT_GT(RelativeDistance(Sketch(DType::kFloat64, values),
                             Sketch(DType::kFloat64, moved)),
            1e-4);
}

TEST(ValueSketchTest, ReorderedValuesAreEqualOnlyWithoutOrder) {
  const std::vector<double> values = Values(1000, 3);
  std::vector<double> reversed = values;
  std::ranges::reverse(reversed);
  const ValueSketch x = Sketch(DType::kFloat64, values);
  const ValueSketch y = Sketch(DType::kFloat64, reversed);
  EXPECT_GT(RelativeDistance(x, y), 0.1);
  EXPECT_LT(UnorderedDistance(x, y), 1e-12);
}

TEST(ValueSketchTest, WidthOfTheElementsDoesNotMatter) {
  const std::vector<float> narrow = {1, -2, 3.5F, 0};
  const std::vector<double> wide = {1, -2, 3.5, 0};
  const std::vector<std::int8_t> integers = {1, -2, 3, 0};
  const std::vector<std::int64_t> long_integers = {1, -2, 3, 0};
  EXPECT_EQ(RelativeDistance(Sketch(DType::kFloat32, narrow),
                             Sketch(DType::kFloat64, wide)),
            0);
  EXPECT_EQ(RelativeDistance(Sketch(DType::kInt8, integers),
                             Sketch(DType::kInt64, long_integers)),
            0);
}

TEST(ValueSketchTest, DifferentCountsAreInfinitelyFar) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const ValueSketch two = Sketch<double>(DType::kFloat64, {1, 2});
  const ValueSketch three = Sketch<double>(DType::kFloat64, {1, 2, 3});
  const ValueSketch with_nan = Sketch<double>(DType::kFloat64, {1, nan});
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(RelativeDistance(two, three), infinity);
  EXPECT_EQ(RelativeDistance(two, with_nan), infinity);
  EXPECT_EQ(with_nan.nonfinite_count, 1);
}

TEST(ValueSketchTest, NumbersKeepEverything) {
  const ValueSketch sketch = Sketch(DType::kFloat64, Values(100, 4));
  const auto numbers = sketch.ToNumbers();
  const ValueSketch again = ValueSketch::FromNumbers(numbers);
  EXPECT_EQ(again.ToNumbers(), numbers);
  EXPECT_EQ(RelativeDistance(sketch, again), 0);
}

}  // namespace
}  // namespace parity
