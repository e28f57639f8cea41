// Convolutions, poolings and matrices.
#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/randn.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_call.h"
#include "backend/torch/onnx/operator_context.h"
#include "graph/model.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using Integers = std::vector<std::int64_t>;

at::Tensor Line(const std::vector<double>& values) {
  return Doubles(values, {1, 1, static_cast<std::int64_t>(values.size())});
}

TEST(ConvTest, PaddingMayDifferAtBothEnds) {
  const std::vector<at::Tensor> inputs = {Line({1, 2, 3}), Line({1, 10})};
  EXPECT_THAT(
      Elements(Output({"Conv", 11, inputs, {{"pads", Integers{1, 0}}}})),
      ElementsAre(10, 21, 32));
  EXPECT_THAT(
      Elements(Output(
          {"Conv", 11, inputs, {{"auto_pad", std::string("SAME_LOWER")}}})),
      ElementsAre(10, 21, 32));
  EXPECT_THAT(
      Elements(Output(
          {"Conv", 11, inputs, {{"auto_pad", std::string("SAME_UPPER")}}})),
      ElementsAre(21, 32, 3));
  EXPECT_THAT(Elements(Output(
                  {"Conv", 11, inputs, {{"auto_pad", std::string("VALID")}}})),
              ElementsAre(21, 32));
}

// Large enough for two bands.
TEST(ConvTest, BandsGiveTheWhole) {
  const at::Tensor x = at::randn({4, 64, 120, 301}, at::kDouble);
  const at::Tensor b = at::randn({10}, at::kDouble);
  const at::Tensor weights = at::randn({10, 32, 3, 3}, at::kDouble);
  const at::Tensor expected =
      at::convolution(x, weights, b, {2, 1}, {2, 1}, {2, 1}, false, {0, 0}, 2);
  const at::Tensor actual = Output({"Conv",
                                    11,
                                    {x, weights, b},
                                    {{"pads", Integers{2, 1, 2, 1}},
                                     {"strides", Integers{2, 1}},
                                     {"dilations", Integers{2, 1}},
                                     {"group", std::int64_t{2}}}});
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_LT(actual.sub(expected).abs().max().item<double>(), 1e-10);
}

TEST(ConvTest, ChannelsByThemselvesGiveTheSameAsInGroups) {
  for (const std::int64_t multiplier : {1, 3}) {
    const at::Tensor x = at::randn({2, 5, 13, 17}, at::kDouble);
    const at::Tensor b = at::randn({5 * multiplier}, at::kDouble);
    const at::Tensor weights =
        at::randn({5 * multiplier, 1, 3, 2}, at::kDouble);
    const at::Tensor expected = at::convolution(x, weights, b, {2, 1}, {2, 1},
                                                {2, 3}, false, {0, 0}, 5);
    const at::Tensor actual = Output({"Conv",
                                      11,
                                      {x, weights, b},
                                      {{"pads", Integers{2, 1, 2, 1}},
                                       {"strides", Integers{2, 1}},
                                       {"dilations", Integers{2, 3}},
                                       {"group", std::int64_t{5}}}});
    ASSERT_EQ(actual.sizes(), expected.sizes());
    EXPECT_LT(actual.sub(expected).abs().max().item<double>(), 1e-12);
  }
}

TEST(ConvTest, KernelShapeMustBeThatOfTheWeights) {
  EXPECT_THROW(Output({"Conv",
                       11,
                       {Line({1, 2, 3}), Line({1, 10})},
                       {{"kernel_shape", Integers{3}}}}),
               OperatorError);
}

// Stride 2 over a kernel of two ones doubles each element.
TEST(ConvTransposeTest, OutputShapeDecidesThePadding) {
  const std::vector<at::Tensor> inputs = {Line({1, 2, 3}), Line({1, 1}),
                                          Doubles({10}, {1})};
  const Attribute strides = {"strides", Integers{2}};
  const Attribute five = {"output_shape", Integers{5}};
  EXPECT_THAT(Elements(Output({"ConvTranspose", 11, inputs, {strides, five}})),
              ElementsAre(11, 12, 12, 13, 13));
  EXPECT_THAT(Elements(Output(
                  {"ConvTranspose",
                   11,
                   inputs,
                   {strides, five, {"auto_pad", std::string("SAME_UPPER")}}})),
              ElementsAre(11, 11, 12, 12, 13));
  EXPECT_THAT(Elements(Output({"ConvTranspose",
                               11,
                               inputs,
                               {strides, {"output_shape", Integers{8}}}})),
              ElementsAre(11, 11, 12, 12, 13, 13, 10, 10));
}

TEST(ConvTransposeTest, OutputPaddingFollowsTheData) {
  EXPECT_THAT(Elements(Output({"ConvTranspose",
                               11,
                               {Line({1, 2}), Line({1, 1}), Doubles({10}, {1})},
                               {{"strides", Integers{3}},
                                {"pads", Integers{1, 0}},
                                {"output_padding", Integers{1}}}})),
              ElementsAre(11, 10, 12, 12, 10));
}

TEST(AveragePoolTest, LastWindowCountsWhatIsThere) {
  const Attribute ceiling = {"ceil_mode", std::int64_t{1}};
  const Attribute counts_padding = {"count_include_pad", std::int64_t{1}};
  const std::vector<Attribute> pairs = {
      {"kernel_shape", Integers{2}}, {"strides", Integers{2}}, ceiling};
  std::vector<Attribute> counted = pairs;
  counted.push_back(counts_padding);
  const at::Tensor five = Line({1, 2, 3, 4, 5});
  EXPECT_THAT(Elements(Output({"AveragePool", 19, {five}, pairs})),
              ElementsAre(1.5, 3.5, 5));
  EXPECT_THAT(Elements(Output({"AveragePool", 19, {five}, counted})),
              ElementsAre(1.5, 3.5, 5));

  // Windows 0 1 2, 2 3 4, and 4 0 with a third element beyond the padding.
  std::vector<Attribute> padded = {{"kernel_shape", Integers{3}},
                                   {"strides", Integers{2}},
                                   {"pads", Integers{1, 1}},
                                   ceiling};
  const at::Tensor four = Line({1, 2, 3, 4});
  EXPECT_THAT(Elements(Output({"AveragePool", 19, {four}, padded})),
              ElementsAre(1.5, 3, 4));
  padded.push_back(counts_padding);
  EXPECT_THAT(Elements(Output({"AveragePool", 19, {four}, padded})),
              ElementsAre(1, 3, 2));
}

TEST(AveragePoolTest, WindowThatWouldStartInTheTrailingPaddingIsLeftOut) {
  EXPECT_THAT(Elements(Output({"AveragePool",
                               19,
                               {Line({1, 2})},
                               {{"kernel_shape", Integers{3}},
                                {"strides", Integers{3}},
                                {"pads", Integers{1, 1}},
                                {"ceil_mode", std::int64_t{1}}}})),
              ElementsAre(1.5));
}

TEST(MaxPoolTest, IndicesNameTheFirstLargestElement) {
  const at::Tensor x = Doubles({1, 5, 5, 5, 2, 3, 4, 4, 4}, {1, 1, 3, 3});
  const std::vector<Attribute> square = {{"kernel_shape", Integers{2, 2}}};
  const std::vector<at::Tensor> rows = Outputs({"MaxPool", 12, {x}, square, 2});
  EXPECT_THAT(Elements(rows[0]), ElementsAre(5, 5, 5, 4));
  EXPECT_THAT(Elements(rows[1]), ElementsAre(1, 1, 3, 7));
  const std::vector<at::Tensor> columns = Outputs(
      {"MaxPool", 12, {x}, {square[0], {"storage_order", std::int64_t{1}}}, 2});
  EXPECT_THAT(Elements(columns[1]), ElementsAre(3, 3, 1, 5));
}

TEST(MaxPoolTest, PaddingIsNeitherValueNorIndex) {
  const std::vector<Attribute> attributes = {{"kernel_shape", Integers{2}},
                                             {"strides", Integers{2}},
                                             {"pads", Integers{1, 0}}};
  const std::vector<at::Tensor> outputs =
      Outputs({"MaxPool", 12, {Line({-3, -1, -2})}, attributes, 2});
  EXPECT_THAT(Elements(outputs[0]), ElementsAre(-3, -1));
  EXPECT_THAT(Elements(outputs[1]), ElementsAre(0, 1));
  const at::Tensor bytes =
      Output({"MaxPool", 12, {Line({-128, -5, -7}).to(at::kChar)}, attributes});
  EXPECT_EQ(bytes.scalar_type(), at::kChar);
  EXPECT_THAT(Elements(bytes), ElementsAre(-128, -5));
}

TEST(MaxUnpoolTest, IndicesCountInThePooledShape) {
  EXPECT_THAT(
      Elements(Output(
          {"MaxUnpool",
           11,
           {Line({7, 8}), Longs({1, 3}).reshape({1, 1, 2}), Longs({1, 1, 6})},
           {{"kernel_shape", Integers{2}}, {"strides", Integers{2}}}})),
      ElementsAre(0, 7, 0, 8, 0, 0));
}

TEST(MatMulTest, UnsignedIntegersWrapAround) {
  const at::Tensor row = Longs({65536, 3}).to(at::kUInt32);
  const at::Tensor column = Longs({65536, 5}).to(at::kUInt32);
  const at::Tensor product = Output({"MatMul", 13, {row, column}});
  EXPECT_EQ(product.dim(), 0);
  EXPECT_EQ(product.scalar_type(), at::kUInt32);
  EXPECT_THAT(Elements(product), ElementsAre(15));
}

TEST(GemmTest, ScalesProductAndSum) {
  const at::Tensor a = Doubles({1, 2, 3, 4}, {2, 2});
  EXPECT_THAT(
      Elements(Output(
          {"Gemm",
           13,
           {a, a, Doubles({10, 20}, {2, 1})},
           {{"alpha", 0.5F}, {"beta", 2.0F}, {"transA", std::int64_t{1}}}})),
      // aᵀa = 10 14, 14 20
      ElementsAre(25, 27, 47, 50));
}

}  // namespace
}  // namespace parity
