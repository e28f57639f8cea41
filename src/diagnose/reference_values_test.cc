#include "diagnose/reference_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "backend/backend.h"
#include "diagnose/testing/two_sides.h"
#include "parity/dtype.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6;

ValueSketch Sketch(const Numbers& numbers) {
  return SketchOf(
      Tensor::From<double>(DType::kFloat64,
                           {static_cast<std::int64_t>(numbers.size())}, numbers)
          .value()
          .view());
}

TracedValue Traced(const Numbers& numbers) {
  TracedValue value;
  value.sketch = Sketch(numbers);
  return value;
}

TEST(ReferenceValuesTest, ZerosConstantsAndSingleElementsAreWeak) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Numbers& weak :
       {Numbers{}, Numbers{0.37}, Numbers{0, 0, 0}, Numbers{0.1, 0.1, 0.1},
        Numbers{-2, -2}, Numbers{nan, nan}, Numbers{nan, 0}})
    EXPECT_TRUE(IsWeak(Sketch(weak))) << ::testing::PrintToString(weak);
  for (const Numbers& strong :
       {Numbers{0.1, 0.2}, Numbers{1, -1}, Numbers{0, 1, 1}, Random(1000, 3)})
    EXPECT_FALSE(IsWeak(Sketch(strong)));
}

TEST(ReferenceValuesTest, MasksAreTwoValued) {
  EXPECT_TRUE(IsTwoValued(Sketch({0, 1, 0, 1, 1})));
  EXPECT_TRUE(IsTwoValued(Sketch({0, -2.5, 0})));
  EXPECT_FALSE(IsTwoValued(Sketch({0, 1, 2})));
  EXPECT_FALSE(IsTwoValued(Sketch({1, -1, 0})));
  EXPECT_FALSE(IsTwoValued(Sketch(Random(1000, 3))));
}

TEST(ReferenceValuesTest, ValuesAreFoundByTheirNumbers) {
  const Numbers a = Random(24, 1);
  const Numbers b = Random(24, 2);
  const std::vector<TracedValue> inputs = {Traced(a)};
  const std::vector<TracedValue> trace = {Traced(b), Traced(a),
                                          Traced(Transposed(b, 6))};
  const ReferenceValues values(inputs, trace);
  EXPECT_EQ(values.size(), 4U);
  EXPECT_EQ(values.input_count(), 1U);
  EXPECT_THAT(values.Equal(Sketch(a), kTolerance), ElementsAre(0, 2));
  EXPECT_THAT(values.Equal(Sketch(Scaled(a, 1 + 1e-9)), kTolerance),
              ElementsAre(0, 2));
  EXPECT_THAT(values.Equal(Sketch(Scaled(a, 1 + 1e-4)), kTolerance), IsEmpty());
  EXPECT_THAT(values.Permuted(Sketch(b), kTolerance), ElementsAre(1, 3));
  EXPECT_THAT(values.Permuted(Sketch(Numbers(24)), kTolerance), IsEmpty());
  EXPECT_EQ(values.NearestDistance(Sketch(a)), 0);
  EXPECT_GT(values.NearestDistance(Sketch(Random(24, 3))), 0.1);
  EXPECT_EQ(values.NearestDistance(Sketch(Random(23, 3))),
            std::numeric_limits<double>::infinity());
}

TEST(ReferenceValuesTest, AdditionalZerosAreNoDifference) {
  const Numbers a = Random(24, 1);
  const std::vector<TracedValue> trace = {Traced(a)};
  const ReferenceValues values({}, trace);
  EXPECT_THAT(values.WithoutZeros(Sketch(Joined(Numbers(8), a)), kTolerance),
              ElementsAre(0));
  // As many is for the others to find; more zeros than numbers are too many.
  EXPECT_THAT(values.WithoutZeros(Sketch(a), kTolerance), IsEmpty());
  EXPECT_THAT(values.WithoutZeros(Sketch(Joined(a, Numbers(24))), kTolerance),
              IsEmpty());
  EXPECT_THAT(
      values.WithoutZeros(Sketch(Joined(a, Numbers(8, 0.1))), kTolerance),
      IsEmpty());
}

}  // namespace
}  // namespace parity
