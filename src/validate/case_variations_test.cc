#include "validate/case_variations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

Dimension Fixed(std::int64_t size) { return {.value = size, .name = ""}; }
Dimension Named(const std::string& name) {
  return {.value = std::nullopt, .name = name};
}
Dimension Open() { return Named(""); }

ValueInfo Declared(const std::string& name, DType dtype,
                   std::vector<Dimension> shape) {
  return {.name = name,
          .dtype = dtype,
          .shape = std::move(shape),
          .other_type = ""};
}

// Values 1, 2, 3, … modulo 100.
NamedTensor Counting(const std::string& name, DType dtype, Shape shape) {
  Tensor tensor = *Tensor::Allocate(dtype, std::move(shape));
  std::int64_t i = 0;
  if (dtype == DType::kFloat32) {
    for (float& value : tensor.MutableAs<float>())
      value = static_cast<float>(++i % 100);
  } else if (dtype == DType::kInt64) {
    for (std::int64_t& value : tensor.MutableAs<std::int64_t>())
      value = ++i % 100;
  }
  return {.name = name, .tensor = std::move(tensor)};
}

std::vector<std::string> NamesOf(const std::vector<CaseVariation>& variations) {
  std::vector<std::string> names;
  names.reserve(variations.size());
  for (const CaseVariation& variation : variations)
    names.push_back(variation.name);
  return names;
}

std::vector<Shape> ShapesOf(const std::vector<CaseVariation>& variations,
                            const std::string& name) {
  const auto found = std::ranges::find(variations, name, &CaseVariation::name);
  return found == variations.end() ? std::vector<Shape>() : found->shapes;
}

// Two pictures that share their names, as BackgroundMattingV2's.
Contract Pictures() {
  Contract contract;
  for (const char* const name : {"src", "bgr"}) {
    contract.inputs.push_back(
        Declared(name, DType::kFloat32,
                 {Named("batch"), Fixed(3), Named("height"), Named("width")}));
  }
  return contract;
}
NamedTensors PictureInputs(const Shape& shape) {
  return {Counting("src", DType::kFloat32, shape),
          Counting("bgr", DType::kFloat32, shape)};
}

TEST(PlanVariationsTest, SharedNamesChangeTogetherAndFixedAxesNever) {
  const auto variations =
      PlanVariations(PictureInputs({1, 3, 16, 20}), Pictures());
  EXPECT_THAT(
      NamesOf(variations),
      IsSupersetOf({"batch 2",      "batch 3",     "size 3x12",    "size 2x2",
                    "height 1",     "height 2",    "height 3",     "height 5",
                    "height 33",    "width 1",     "width 5",      "width 41",
                    "zeros",        "ones",        "negated",      "times 8",
                    "tiny",         "offset 1000", "offset 40000", "zero row",
                    "steps of 1/8", "all equal",   "range ends"}));
  for (const CaseVariation& variation : variations) {
    SCOPED_TRACE(variation.name);
    ASSERT_EQ(variation.shapes.size(), 2U);
    EXPECT_EQ(variation.shapes[0], variation.shapes[1]);
    EXPECT_EQ(variation.shapes[0][1], 3);
    EXPECT_EQ(variation.shapes[0] != (Shape{1, 3, 16, 20}),
              variation.kind != VariationKind::kValues);
  }
  EXPECT_EQ(ShapesOf(variations, "height 33")[0], (Shape{1, 3, 33, 20}));
  EXPECT_EQ(ShapesOf(variations, "size 3x12")[1], (Shape{1, 3, 3, 12}));
  EXPECT_EQ(ShapesOf(variations, "batch 2")[1], (Shape{2, 3, 16, 20}));
}

TEST(PlanVariationsTest, NamesAreUniqueAndThereAreNotTooMany) {
  Contract contract;
  NamedTensors inputs;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "x" + std::to_string(i);
    contract.inputs.push_back(
        Declared(name, DType::kFloat32, {Open(), Open(), Open(), Open()}));
    inputs.push_back(Counting(name, DType::kFloat32, {4, 3 + i, 8 + i, 9}));
  }
  for (const char* const name : {"n", "m"}) {
    contract.inputs.push_back(Declared(name, DType::kInt64, {}));
    inputs.push_back(Counting(name, DType::kInt64, {}));
  }
  const auto variations = PlanVariations(inputs, contract);
  EXPECT_EQ(variations.size(), 32U);
  const std::vector<std::string> names = NamesOf(variations);
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_THAT(names, Contains("zeros"));
  EXPECT_THAT(names, Contains("offset 1000"));
}

TEST(PlanVariationsTest, AModelWithoutOpenAxesGetsOtherValuesOnly) {
  Contract contract;
  contract.inputs = {Declared("x", DType::kFloat32, {Fixed(2), Fixed(3)}),
                     {.name = "y",
                      .dtype = DType::kFloat32,
                      .shape = std::nullopt,
                      .other_type = ""}};
  const auto variations =
      PlanVariations({Counting("x", DType::kFloat32, {2, 3}),
                      Counting("y", DType::kFloat32, {4})},
                     contract);
  EXPECT_FALSE(variations.empty());
  for (const CaseVariation& variation : variations) {
    EXPECT_EQ(variation.kind, VariationKind::kValues);
    EXPECT_THAT(variation.shapes, ElementsAre(Shape{2, 3}, Shape{4}));
  }
}

TEST(PlanVariationsTest, AxesWithoutANameChangeTogetherAndThenAlone) {
  Contract contract;
  for (const char* const name : {"a", "b"}) {
    contract.inputs.push_back(
        Declared(name, DType::kFloat32, {Open(), Fixed(4), Open()}));
  }
  const auto variations =
      PlanVariations({Counting("a", DType::kFloat32, {1, 4, 6}),
                      Counting("b", DType::kFloat32, {1, 4, 6})},
                     contract);
  EXPECT_THAT(ShapesOf(variations, "batch 2"),
              ElementsAre(Shape{2, 4, 6}, Shape{2, 4, 6}));
  EXPECT_THAT(ShapesOf(variations, "axis 2 5"),
              ElementsAre(Shape{1, 4, 5}, Shape{1, 4, 5}));
  EXPECT_THAT(ShapesOf(variations, "a axis 2 5"),
              ElementsAre(Shape{1, 4, 5}, Shape{1, 4, 6}));
  EXPECT_THAT(ShapesOf(variations, "b axis 2 13"),
              ElementsAre(Shape{1, 4, 6}, Shape{1, 4, 13}));
}

TEST(PlanVariationsTest, NamesAcrossAxesOfOneInputAreKept) {
  Contract contract;
  contract.inputs = {
      Declared("image", DType::kFloat32,
               {Fixed(1), Fixed(1), Named("side"), Named("side")}),
      Declared("row", DType::kFloat32, {Named("side")}),
      Declared("tokens", DType::kInt64, {Named("tokens"), Fixed(7)})};
  const auto variations =
      PlanVariations({Counting("image", DType::kFloat32, {1, 1, 6, 6}),
                      Counting("row", DType::kFloat32, {6}),
                      Counting("tokens", DType::kInt64, {1, 7})},
                     contract);
  EXPECT_THAT(ShapesOf(variations, "side 5"),
              ElementsAre(Shape{1, 1, 5, 5}, Shape{5}, Shape{1, 7}));
  EXPECT_THAT(ShapesOf(variations, "size 2x2"),
              ElementsAre(Shape{1, 1, 2, 2}, Shape{2}, Shape{1, 7}));
  EXPECT_THAT(ShapesOf(variations, "tokens 3"),
              ElementsAre(Shape{1, 1, 6, 6}, Shape{6}, Shape{3, 7}));
  for (const CaseVariation& variation : variations)
    EXPECT_EQ(variation.shapes[0][2], variation.shapes[0][3]);
}

TEST(PlanVariationsTest, CasesStaySmall) {
  const NamedTensors inputs = PictureInputs({1, 3, 720, 1280});
  const auto variations = PlanVariations(inputs, Pictures());
  EXPECT_THAT(NamesOf(variations), Contains("height 1441"));
  EXPECT_THAT(NamesOf(variations), Contains("batch 3"));  // 66 MB
  const auto large =
      PlanVariations(PictureInputs({1, 3, 1080, 1920}), Pictures());
  EXPECT_THAT(NamesOf(large), Contains("width 5"));
  EXPECT_THAT(NamesOf(large), Not(Contains("width 3841")));
  EXPECT_THAT(NamesOf(large), Not(Contains("batch 2")));  // 100 MB
  const auto tiny = PlanVariations(PictureInputs({1, 3, 1, 1}), Pictures());
  for (const CaseVariation& variation : tiny)
    EXPECT_LE(*ElementCount(variation.shapes[0]), 4 * 3) << variation.name;
}

TEST(PlanVariationsTest, IntegersOfOneElementTakeOtherValues) {
  Contract contract;
  contract.inputs = {Declared("n", DType::kInt64, {}),
                     Declared("ids", DType::kInt64, {Fixed(5)})};
  const auto variations = PlanVariations(
      {Counting("n", DType::kInt64, {}), Counting("ids", DType::kInt64, {5})},
      contract);
  ASSERT_THAT(NamesOf(variations), ElementsAre("n 7", "n 0"));
  EXPECT_EQ(variations[0].change, ValueChange::kInteger);
  EXPECT_EQ(variations[0].input, "n");
  EXPECT_EQ(variations[0].operand, 7);
}

TEST(PlanVariationsTest, WhatWouldChangeNothingIsLeftOut) {
  Contract contract;
  contract.inputs = {Declared("x", DType::kFloat32, {Fixed(4)})};
  const NamedTensors zeros = {{"x", *Tensor::Allocate(DType::kFloat32, {4})}};
  EXPECT_THAT(NamesOf(PlanVariations(zeros, contract)),
              ElementsAre("ones", "offset 1000", "offset 40000"));
  contract.inputs[0].dtype = DType::kInt64;
  EXPECT_THAT(PlanVariations({Counting("x", DType::kInt64, {4})}, contract),
              IsEmpty());
}

TEST(PlanVariationsTest, NarrowTypesAreNotMovedOutOfTheirRange) {
  Contract contract;
  contract.inputs = {Declared("x", DType::kFloat16, {Fixed(1)})};
  const NamedTensors inputs = {
      {"x", *Tensor::From<std::uint16_t>(DType::kFloat16, {1},
                                         std::vector<std::uint16_t>{0x3800})}};
  EXPECT_THAT(NamesOf(PlanVariations(inputs, contract)),
              Not(Contains(HasSubstr("offset"))));
}

}  // namespace
}  // namespace parity
