#include "validate/varied_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/half.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/case_variations.h"

namespace parity {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

NamedTensors Floats(const Shape& shape, const std::vector<float>& values) {
  return {{"x", *Tensor::From<float>(DType::kFloat32, shape, values)}};
}

// The elements of the first input after the change.
std::vector<float> Changed(const NamedTensors& inputs, ValueChange change,
                           double operand = 0) {
  const Result<NamedTensors> made =
      MakeVariation(inputs, {.name = "v",
                             .shapes = {inputs[0].tensor.shape()},
                             .change = change,
                             .operand = operand});
  if (!made) return {};
  const auto values = (*made)[0].tensor.As<float>();
  return {values.begin(), values.end()};
}

Tensor Reshaped(const NamedTensors& inputs, const Shape& shape) {
  return (*MakeVariation(inputs, {.name = "v", .shapes = {shape}}))[0].tensor;
}

TEST(MakeVariationTest, ValuesChangeAsTheyAreSaidTo) {
  const NamedTensors x = Floats({2, 3}, {0.1F, -2, 3.2F, 0, 5, -6});
  EXPECT_THAT(Changed(x, ValueChange::kConstant, 1), Each(1));
  EXPECT_THAT(Changed(x, ValueChange::kScale, -1),
              ElementsAre(-0.1F, 2, -3.2F, 0, -5, 6));
  EXPECT_THAT(Changed(x, ValueChange::kScale, 8),
              ElementsAre(0.8F, -16, 25.6F, 0, 40, -48));
  EXPECT_THAT(Changed(x, ValueChange::kOffset, 1000),
              ElementsAre(1000.1F, 998, 1003.2F, 1000, 1005, 994));
  EXPECT_THAT(Changed(x, ValueChange::kZeroRow),
              ElementsAre(0, 0, 0, 0, 5, -6));
  EXPECT_THAT(Changed(x, ValueChange::kSteps, 0.125),
              ElementsAre(0.125F, -2, 3.25F, 0, 5, -6));
  EXPECT_THAT(Changed(x, ValueChange::kMiddle), Each(-0.5F));
  EXPECT_THAT(Changed(x, ValueChange::kRangeEnds),
              ElementsAre(5, -6, 5, 5, 5, -6));
  EXPECT_THAT(Changed(Floats({1}, {std::nanf("")}), ValueChange::kMiddle),
              ElementsAre(::testing::IsNan()));
}

TEST(MakeVariationTest, HalvesStayFinite) {
  const NamedTensors x = {
      {"x", *Tensor::From<std::uint16_t>(
                DType::kFloat16, {2},
                std::vector<std::uint16_t>{HalfFromFloat(30000),
                                           HalfFromFloat(-1.5F)})}};
  const Tensor scaled = (*MakeVariation(x, {.name = "v",
                                            .shapes = {{2}},
                                            .change = ValueChange::kScale,
                                            .operand = 8}))[0]
                            .tensor;
  EXPECT_EQ(FloatFromHalf(scaled.As<std::uint16_t>()[0]), 65504);
  EXPECT_EQ(FloatFromHalf(scaled.As<std::uint16_t>()[1]), -12);
  const Tensor offset = (*MakeVariation(x, {.name = "v",
                                            .shapes = {{2}},
                                            .change = ValueChange::kOffset,
                                            .operand = 40000}))[0]
                            .tensor;
  EXPECT_EQ(offset.bytes().data(), x[0].tensor.bytes().data());
}

TEST(MakeVariationTest, OnlyTheNamedIntegerChangesAndOthersShareTheirBytes) {
  NamedTensors inputs = Floats({2}, {1, 2});
  for (const char* const name : {"n", "m"}) {
    inputs.push_back(
        {name, *Tensor::From<std::int32_t>(DType::kInt32, {1},
                                           std::vector<std::int32_t>{-3})});
  }
  const NamedTensors made =
      *MakeVariation(inputs, {.name = "m 7",
                              .shapes = {{2}, {1}, {1}},
                              .change = ValueChange::kInteger,
                              .operand = 7,
                              .input = "m"});
  EXPECT_EQ(made[0].tensor.bytes().data(), inputs[0].tensor.bytes().data());
  EXPECT_EQ(made[1].tensor.bytes().data(), inputs[1].tensor.bytes().data());
  EXPECT_THAT(made[2].tensor.As<std::int32_t>(), ElementsAre(7));
  // Integers keep their values where floats change.
  const NamedTensors zeros =
      *MakeVariation(inputs, {.name = "zeros",
                              .shapes = {{2}, {1}, {1}},
                              .change = ValueChange::kConstant});
  EXPECT_THAT(zeros[0].tensor.As<float>(), ElementsAre(0, 0));
  EXPECT_THAT(zeros[1].tensor.As<std::int32_t>(), ElementsAre(-3));
}

TEST(MakeVariationTest, SmallerShapesAreCropped) {
  const NamedTensors x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Reshaped(x, {2, 2}).As<float>(), ElementsAre(1, 2, 4, 5));
  EXPECT_THAT(Reshaped(x, {1, 3}).As<float>(), ElementsAre(1, 2, 3));
}

TEST(MakeVariationTest, LargerShapesKeepTheValuesAndRepeatNoRow) {
  const Shape shape = {2, 3, 5, 7};
  std::vector<float> values;
  values.reserve(std::size_t{2} * 3 * 5 * 7);
  for (int i = 0; i < 2 * 3 * 5 * 7; ++i)
    values.push_back(static_cast<float>(i));
  const NamedTensors x = Floats(shape, values);
  for (const Shape& larger : {Shape{3, 3, 5, 7}, Shape{2, 3, 11, 7},
                              Shape{2, 3, 5, 15}, Shape{4, 3, 7, 9}}) {
    SCOPED_TRACE(ToString(larger));
    const Tensor made = Reshaped(x, larger);
    ASSERT_EQ(made.shape(), larger);
    const auto row_length = static_cast<std::size_t>(larger.back());
    std::set<std::vector<float>> rows;
    const auto all = made.As<float>();
    for (std::size_t i = 0; i < all.size(); i += row_length) {
      const auto row = all.subspan(i, row_length);
      rows.emplace(row.begin(), row.end());
      for (const float value : row)
        ASSERT_TRUE(value >= 0 && value < 2 * 3 * 5 * 7);
    }
    EXPECT_EQ(rows.size(), all.size() / row_length);
    // What was there stays in place.
    for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(all[i], values[i]);
    EXPECT_THAT(Reshaped(x, larger).bytes(), ElementsAreArray(made.bytes()));
  }
}

TEST(MakeVariationTest, NothingCanBeMadeOfNothingButZeros) {
  const NamedTensors x = {{"x", *Tensor::Allocate(DType::kFloat32, {0, 3})}};
  EXPECT_THAT(Reshaped(x, {2, 3}).As<float>(), Each(0));
  EXPECT_EQ(Reshaped(x, {0, 5}).element_count(), 0);
}

}  // namespace
}  // namespace parity
