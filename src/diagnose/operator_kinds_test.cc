#include "diagnose/operator_kinds.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

namespace parity {
namespace {

TEST(OperatorKindsTest, CounterpartsAreKnown) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"Conv", "aten::convolution"},
      {"Conv", "aten::_convolution"},
      {"Conv", "aten::conv2d"},
      {"Conv", "aten::native_batch_norm"},  // folded
      {"MatMul", "aten::mm"},
      {"MatMul", "aten::bmm"},
      {"Gemm", "aten::addmm"},
      {"Gemm", "aten::linear"},
      {"BatchNormalization", "aten::batch_norm"},
      {"LayerNormalization", "aten::native_layer_norm"},
      {"Relu", "aten::relu_"},
      {"LeakyRelu", "aten::leaky_relu"},
      {"Clip", "aten::hardtanh_"},
      {"Resize", "aten::upsample_bilinear2d"},
      {"Mul", "aten::mul"},
      {"Div", "aten::div.Tensor_mode"},
      {"Softmax", "aten::_softmax"},
      {"TopK", "aten::topk"},
      {"ArgMax", "aten::argmax"},
      {"Greater", "aten::gt"},
      {"Transpose", "aten::permute"},
      {"Concat", "aten::cat"},
  };
  for (const auto& [onnx, torch] : kPairs)
    EXPECT_TRUE(IsCounterpart(onnx, torch)) << onnx << " and " << torch;
}

TEST(OperatorKindsTest, OthersAreNone) {
  constexpr std::pair<std::string_view, std::string_view> kPairs[] = {
      {"Relu", "aten::relu6"},
      {"Relu", "aten::leaky_relu"},
      {"Mul", "aten::matmul"},
      {"Sub", "aten::layer_norm"},
      {"Conv", "aten::add"},
      {"Conv", ""},
      {"", ""},
      {"Transpose", "aten::tanh"},
      {"Softmax", "aten::softplus"}};
  for (const auto& [onnx, torch] : kPairs)
    EXPECT_FALSE(IsCounterpart(onnx, torch)) << onnx << " and " << torch;
}

}  // namespace
}  // namespace parity
