#include "validate/case_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "networks/matting_config.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

Dimension Named(const std::string& name) { return {.value = {}, .name = name}; }
Dimension Fixed(std::int64_t size) { return {.value = size, .name = ""}; }

ValueInfo Input(const std::string& name, std::vector<Dimension> shape,
                DType dtype = DType::kFloat32) {
  ValueInfo value;
  value.name = name;
  value.dtype = dtype;
  value.shape = std::move(shape);
  return value;
}

Contract MattingContract() {
  Contract contract;
  for (const char* name : {"src", "bgr"}) {
    contract.inputs.push_back(Input(
        name, {Named("batch"), Fixed(3), Named("height"), Named("width")}));
  }
  return contract;
}

std::string ErrorOf(const Result<std::vector<PlannedCase>>& cases) {
  return cases ? "" : cases.error().message;
}

TEST(CasePlanTest, TheDefaultPlanHasThreeCases) {
  const auto cases = PlanCases(MattingContract(), {}, MattingConfig{});
  ASSERT_TRUE(cases.has_value());
  ASSERT_EQ(cases->size(), 3U);
  EXPECT_EQ((*cases)[0].inputs[0].shape, (Shape{1, 3, 720, 1280}));
  EXPECT_EQ((*cases)[0].inputs[0].generator, "normal");
  const Shape odd = (*cases)[1].inputs[1].shape;
  EXPECT_EQ(odd[0], 2);
  for (const std::size_t axis : {2U, 3U}) {
    EXPECT_EQ(odd[axis] % 4, 0);
    EXPECT_EQ(odd[axis] / 4 % 2, 1);
  }
  EXPECT_EQ((*cases)[2].inputs[0].generator, "constant");
  EXPECT_EQ((*cases)[2].inputs[0].value, 1);
  EXPECT_EQ((*cases)[2].inputs[1].value, 0);
}

TEST(CasePlanTest, TheSaturatedCaseLeavesNoChoiceOfCells) {
  MattingConfig config;
  for (const std::int64_t pixels : {16L, 1600L, 80'000L, 10'000'000L}) {
    config.refine_sample_pixels = pixels;
    const auto cases = PlanCases(MattingContract(), {}, config);
    const Shape shape = (*cases)[2].inputs[0].shape;
    EXPECT_LE(shape[2] * shape[3], std::max<std::int64_t>(pixels, 256))
        << pixels;
    EXPECT_EQ(shape[2] % 4, 0);
  }
}

TEST(CasePlanTest, FixedAxesKeepTheirSize) {
  Contract contract;
  contract.inputs = {
      Input("x", {Fixed(5), Fixed(3), Fixed(64), Named("")}),
      Input("ids", {Named("batch"), Named("length")}, DType::kInt64)};
  const auto cases = PlanCases(contract, {}, std::nullopt);
  ASSERT_TRUE(cases.has_value());
  EXPECT_EQ((*cases)[0].inputs[0].shape, (Shape{5, 3, 64, 1280}));
  EXPECT_EQ((*cases)[1].inputs[1].shape, (Shape{2, 16}));
}

TEST(CasePlanTest, ANamedDimensionHasOneSizeInAllInputs) {
  Contract contract;
  contract.inputs = {Input("a", {Named("n"), Named("n")}),
                     Input("b", {Named("n")})};
  const auto cases = PlanCases(contract,
                               {.only = {},
                                .shapes = {},
                                .dimensions = {{"n", 7}},
                                .generator = "",
                                .images = {},
                                .inputs = {},
                                .seed = 0},
                               std::nullopt);
  ASSERT_TRUE(cases.has_value());
  ASSERT_EQ(cases->size(), 1U);
  EXPECT_EQ((*cases)[0].inputs[0].shape, (Shape{7, 7}));
  EXPECT_EQ((*cases)[0].inputs[1].shape, (Shape{7}));
}

TEST(CasePlanTest, AShapeGivenForOneInputSizesTheOther) {
  CaseOptions options;
  options.shapes["bgr"] = {1, 3, 64, 96};
  const auto cases = PlanCases(MattingContract(), options, MattingConfig{});
  ASSERT_TRUE(cases.has_value());
  ASSERT_EQ(cases->size(), 1U);
  EXPECT_EQ((*cases)[0].name, "custom");
  EXPECT_EQ((*cases)[0].inputs[0].shape, (Shape{1, 3, 64, 96}));
}

TEST(CasePlanTest, InputFilesReplaceThePlan) {
  CaseOptions options;
  options.inputs = {"a/0-x.safetensors", "b/0-x.safetensors",
                    "sets/test_data_set_0/"};
  const auto cases = PlanCases(MattingContract(), options, std::nullopt);
  ASSERT_TRUE(cases.has_value());
  ASSERT_EQ(cases->size(), 3U);
  EXPECT_EQ((*cases)[0].name, "0-x");
  EXPECT_EQ((*cases)[1].name, "0-x-2");
  EXPECT_EQ((*cases)[2].name, "test_data_set_0");
}

TEST(CasePlanTest, WhatTheModelDoesNotHaveIsNamed) {
  CaseOptions shape;
  shape.shapes["image"] = {1};
  EXPECT_EQ(ErrorOf(PlanCases(MattingContract(), shape, {})),
            "--shape image: the model has no such input; it has src, bgr");
  CaseOptions wrong;
  wrong.shapes["src"] = {1, 4, 8, 8};
  EXPECT_EQ(ErrorOf(PlanCases(MattingContract(), wrong, {})),
            "--shape src=1x4x8x8 does not fit the model's float32 batch x 3 x "
            "height x width");
  CaseOptions dimension;
  dimension.dimensions["heigth"] = 4;
  EXPECT_THAT(ErrorOf(PlanCases(MattingContract(), dimension, {})),
              HasSubstr("--dim heigth"));
  CaseOptions only;
  only.only = {"standrad"};
  EXPECT_EQ(ErrorOf(PlanCases(MattingContract(), only, {})),
            "--case standrad: there is no such case; there are standard, "
            "image, saturated");
}

TEST(CasePlanTest, InputsWithoutAShapeOrDtypeNeedHelp) {
  Contract contract;
  contract.inputs = {Input("x", {})};
  contract.inputs[0].shape.reset();
  EXPECT_THAT(ErrorOf(PlanCases(contract, {}, {})),
              HasSubstr("give one with --shape x="));
  contract.inputs[0].other_type = "sequence";
  EXPECT_THAT(ErrorOf(PlanCases(contract, {}, {})), HasSubstr("--inputs"));
}

}  // namespace
}  // namespace parity
