// Recurrent networks, normalizations, quantized numbers, signals.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_call.h"
#include "backend/torch/onnx/operator_context.h"
#include "graph/model.h"

namespace parity {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using Integers = std::vector<std::int64_t>;

// Only the cell gate sees the input, so every other gate is 1/2:
// C = (C' + tanh x)/2, H = tanh(C)/2.
TEST(LstmTest, ReverseStartsAtTheEndOfEachSequence) {
  const at::Tensor x = Doubles({1, 4, 2, 5, 3, 99}, {3, 2, 1});
  const at::Tensor w = Doubles({0, 0, 0, 1}, {1, 4, 1});
  const at::Tensor r = Doubles({0, 0, 0, 0}, {1, 4, 1});
  const at::Tensor cells = Doubles({0, 0.8}, {1, 2, 1});
  const std::vector<at::Tensor> outputs =
      Outputs({"LSTM",
               14,
               {x, w, r, {}, Longs({3, 2}).to(at::kInt), {}, cells},
               {{"hidden_size", std::int64_t{1}},
                {"direction", std::string("reverse")}},
               3});
  const auto next = [](double cell, double input) {
    return (cell + std::tanh(input)) / 2;
  };
  const auto hidden = [](double cell) { return std::tanh(cell) / 2; };
  const double a2 = next(0, 3);
  const double a1 = next(a2, 2);
  const double a0 = next(a1, 1);
  const double b1 = next(0.8, 5);
  const double b0 = next(b1, 4);
  EXPECT_EQ(outputs[0].sizes().vec(), (Integers{3, 1, 2, 1}));
  EXPECT_THAT(Elements(outputs[0]),
              Pointwise(DoubleEq(), {hidden(a0), hidden(b0), hidden(a1),
                                     hidden(b1), hidden(a2), 0.0}));
  EXPECT_THAT(Elements(outputs[1]),
              Pointwise(DoubleEq(), {hidden(a0), hidden(b0)}));
  EXPECT_THAT(Elements(outputs[2]), Pointwise(DoubleEq(), {a0, b0}));
}

// Update and reset gates are 1/2; the hidden gate has R = 1 and Rb = 1.
TEST(GruTest, ResetComesBeforeOrAfterTheRecurrence) {
  const auto last = [](std::int64_t linear_before_reset) {
    return Outputs({"GRU",
                    14,
                    {Doubles({0}, {1, 1, 1}),
                     Doubles({0, 0, 0}, {1, 3, 1}),
                     Doubles({0, 0, 1}, {1, 3, 1}),
                     Doubles({0, 0, 0, 0, 0, 1}, {1, 6}),
                     {},
                     Doubles({2}, {1, 1, 1})},
                    {{"hidden_size", std::int64_t{1}},
                     {"linear_before_reset", linear_before_reset}},
                    2})[1]
        .item<double>();
  };
  EXPECT_DOUBLE_EQ(last(0), (std::tanh(2.0) / 2) + 1);
  EXPECT_DOUBLE_EQ(last(1), (std::tanh(1.5) / 2) + 1);
}

TEST(RnnTest, ParametersGoToTheFunctionsThatHaveSome) {
  const std::vector<at::Tensor> outputs =
      Outputs({"RNN",
               14,
               {Doubles({10}, {1, 1, 1}), Doubles({1, 1}, {2, 1, 1}),
                Doubles({0, 0}, {2, 1, 1})},
               {{"hidden_size", std::int64_t{1}},
                {"direction", std::string("bidirectional")},
                {"activations", std::vector<std::string>{"Relu", "Affine"}},
                {"activation_alpha", std::vector{5.0F}},
                {"activation_beta", std::vector{1.0F}},
                {"clip", 3.0F}},
               2});
  EXPECT_THAT(Elements(outputs[1]), ElementsAre(3, 16));
}

TEST(RnnTest, UnknownActivationIsNamed) {
  EXPECT_THROW(Output({"RNN",
                       14,
                       {Doubles({10}, {1, 1, 1}), Doubles({1}, {1, 1, 1}),
                        Doubles({0}, {1, 1, 1})},
                       {{"activations", std::vector<std::string>{"Swish"}}}}),
               OperatorError);
}

TEST(QuantizeLinearTest, HalvesGoToTheEvenNumberAndEndsSaturate) {
  const at::Tensor x = Doubles({0.5, 1.5, 2.5, -0.5, -1.5, 300, -300}, {7});
  const at::Tensor one = Doubles({1}, {});
  const at::Tensor bytes =
      Output({"QuantizeLinear", 13, {x, one, Longs({128}).to(at::kByte)[0]}});
  EXPECT_EQ(bytes.scalar_type(), at::kByte);
  EXPECT_THAT(Elements(bytes), ElementsAre(128, 130, 130, 128, 126, 255, 0));
  const at::Tensor words = Output(
      {"QuantizeLinear", 21, {x * 1000, one, Longs({7}).to(at::kUInt16)[0]}});
  EXPECT_EQ(words.scalar_type(), at::kUInt16);
  EXPECT_THAT(Elements(words), ElementsAre(507, 1507, 2507, 0, 0, 65535, 0));
}

TEST(DequantizeLinearTest, BlocksHaveScalesOfTheirOwn) {
  EXPECT_THAT(
      Elements(Output(
          {"DequantizeLinear",
           21,
           {Longs({1, 2, 3, 4, 5}).to(at::kChar).reshape({1, 5}),
            Doubles({1, 10, 100}, {1, 3}),
            Longs({0, 1, 2}).to(at::kChar).reshape({1, 3})},
           {{"axis", std::int64_t{1}}, {"block_size", std::int64_t{2}}}})),
      ElementsAre(1, 2, 20, 30, 300));
}

TEST(DynamicQuantizeLinearTest, ZerosStayZeros) {
  const std::vector<at::Tensor> outputs =
      Outputs({"DynamicQuantizeLinear", 11, {Doubles({0, 0}, {2})}, {}, 3});
  EXPECT_THAT(Elements(outputs[0]), ElementsAre(0, 0));
  EXPECT_GT(outputs[1].item<double>(), 0);
  EXPECT_EQ(outputs[2].item<std::int64_t>(), 0);
}

TEST(MatMulIntegerTest, RowsAndColumnsHaveZeroPointsOfTheirOwn) {
  const auto bytes = [](const Integers& values, const Integers& shape) {
    return Longs(values).to(at::kByte).reshape(shape);
  };
  EXPECT_THAT(Elements(Output(
                  {"MatMulInteger",
                   10,
                   {bytes({1, 2, 3, 4}, {2, 2}), bytes({5, 6, 7, 8}, {2, 2}),
                    bytes({1, 3}, {2}), bytes({5, 6}, {2})}})),
              // [0 1; 0 1] · [0 0; 2 2]
              ElementsAre(2, 2, 2, 2));
}

TEST(ConvIntegerTest, PaddingIsTheZeroPoint) {
  EXPECT_THAT(Elements(Output({"ConvInteger",
                               10,
                               {Longs({5, 6}).to(at::kByte).reshape({1, 1, 2}),
                                Longs({1, 10}).to(at::kChar).reshape({1, 1, 2}),
                                Longs({4}).to(at::kByte)[0]},
                               {{"pads", Integers{1, 1}}}})),
              ElementsAre(10, 21, 2));
}

TEST(LrnTest, EvenSizeReachesFurtherUp) {
  EXPECT_THAT(
      Elements(Output(
          {"LRN",
           13,
           {Doubles({1, 2, 3}, {1, 3, 1})},
           {{"size", std::int64_t{2}}, {"alpha", 2.0F}, {"beta", 1.0F}}})),
      Pointwise(DoubleEq(), {1 / 6.0, 2 / 14.0, 3 / 10.0}));
}

TEST(LpNormalizationTest, ZerosStayZeros) {
  EXPECT_THAT(Elements(Output({"LpNormalization",
                               22,
                               {Doubles({3, 4, 0, 0}, {2, 2})},
                               {{"axis", std::int64_t{1}}}})),
              ElementsAre(0.6, 0.8, 0, 0));
}

TEST(GroupNormalizationTest, ScalesBelongToGroupsOrChannels) {
  const at::Tensor x = Doubles({1, 3, 5, 9}, {1, 4});
  const std::vector<Attribute> attributes = {{"num_groups", std::int64_t{2}},
                                             {"epsilon", 0.0F}};
  EXPECT_THAT(
      Elements(Output({"GroupNormalization",
                       18,
                       {x, Doubles({1, 10}, {2}), Doubles({0, 100}, {2})},
                       attributes})),
      ElementsAre(-1, 1, 90, 110));
  EXPECT_THAT(Elements(Output({"GroupNormalization",
                               21,
                               {x, Doubles({1, 2, 3, 4}, {4}),
                                Doubles({0, 0, 10, 10}, {4})},
                               attributes})),
              ElementsAre(-1, 2, 7, 14));
}

TEST(DftTest, ShorterSignalsAreContinuedWithZeros) {
  const at::Tensor y = Output({"DFT",
                               20,
                               {Doubles({1, 2}, {1, 2, 1}), Longs({4})[0]},
                               {{"onesided", std::int64_t{1}}}});
  EXPECT_EQ(y.sizes().vec(), (Integers{1, 3, 2}));
  // 1 + 2·(-i)^k
  EXPECT_THAT(Elements(y), Pointwise(DoubleNear(1e-15), {3, 0, 1, -2, -1, 0}));
}

TEST(HammingWindowTest, StartsAndEndsAtFourFortySixths) {
  const at::Tensor y = Output(
      {"HammingWindow", 17, {Longs({5})[0]}, {{"periodic", std::int64_t{0}}}});
  EXPECT_EQ(y.scalar_type(), at::kDouble);
  EXPECT_THAT(Elements(y),
              Pointwise(DoubleNear(1e-15),
                        {4 / 46.0, 25 / 46.0, 1.0, 25 / 46.0, 4 / 46.0}));
}

}  // namespace
}  // namespace parity
