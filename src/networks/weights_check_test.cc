#include "networks/weights_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "networks/matting_config.h"
#include "networks/matting_layers.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

NamedTensors Synthetic(const MattingConfig& config = {}) {
  return *SyntheticWeights(config, 0);
}

Tensor& At(NamedTensors& weights, const std::string& name) {
  for (NamedTensor& entry : weights) {
    if (entry.name == name) return entry.tensor;
  }
  ADD_FAILURE() << "no " << name;
  return weights.front().tensor;
}

void Remove(NamedTensors& weights, const std::string& name) {
  std::erase_if(weights,
                [&](const NamedTensor& entry) { return entry.name == name; });
}

template <class T>
Tensor Vector(DType dtype, const std::vector<T>& values) {
  return *Tensor::From<T>(dtype, {static_cast<std::int64_t>(values.size())},
                          values);
}

TEST(CheckWeightsTest, FittingWeightsAreSharedAndSorted) {
  NamedTensors weights = Synthetic();
  std::swap(weights.front(), weights.back());
  const Result<CheckedWeights> checked = CheckWeights({}, weights, false);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_THAT(checked->notes, IsEmpty());
  const std::vector<Parameter> table = ParameterTable({});
  ASSERT_EQ(checked->weights.size(), table.size());
  for (std::size_t i = 0; i < table.size(); ++i)
    EXPECT_EQ(checked->weights[i].name, table[i].name);
  EXPECT_EQ(checked->weights.front().tensor.bytes().data(),
            weights.back().tensor.bytes().data());
}

TEST(CheckWeightsTest, EveryFaultIsListedAtOnce) {
  NamedTensors weights = Synthetic();
  Remove(weights, "decoder.conv4.bias");
  Remove(weights, "aspp.project.1.num_batches_tracked");
  weights.push_back({.name = "head.weight",
                     .tensor = *Tensor::Allocate(DType::kFloat32, {2})});
  At(weights, "refiner.bn1.weight") = *Tensor::Allocate(DType::kFloat32, {25});
  At(weights, "refiner.bn1.bias") = *Tensor::Allocate(DType::kInt8, {24});
  At(weights, "refiner.bn2.num_batches_tracked") =
      *Tensor::Allocate(DType::kFloat32, {});
  const Result<CheckedWeights> checked = CheckWeights({}, weights, false);
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, ErrorCode::kIncompatible);
  EXPECT_EQ(
      checked.error().message,
      "the weights do not fit mattingrefine with mobilenetv2 and refiner "
      "kernel size 3: "
      "2 missing: aspp.project.1.num_batches_tracked, decoder.conv4.bias; "
      "1 unexpected: head.weight; "
      "3 of another shape or dtype: refiner.bn1.weight is 25, should be "
      "24, refiner.bn1.bias is int8, should be float32, "
      "refiner.bn2.num_batches_tracked is float32, should be int64");
}

TEST(CheckWeightsTest, NothingAtAllIsAnError) {
  const Result<CheckedWeights> checked = CheckWeights({}, {}, false);
  ASSERT_FALSE(checked.has_value());
  EXPECT_THAT(checked.error().message,
              HasSubstr("missing: backbone.features.0.0.weight, "));
}

TEST(CheckWeightsTest, TheConfigurationThatFitsIsNamed) {
  struct Case {
    MattingConfig actual;
    std::string description;
  };
  for (const Case& c :
       {Case{{.backbone = Backbone::kResNet50},
             "mattingrefine with resnet50 and refiner kernel size 3"},
        Case{{.backbone = Backbone::kResNet101},
             "mattingrefine with resnet101 and refiner kernel size 3"},
        Case{{.refine_kernel_size = 1},
             "mattingrefine with mobilenetv2 and refiner kernel size 1"},
        Case{{.type = MattingType::kBase}, "mattingbase with mobilenetv2"}}) {
    const Result<CheckedWeights> checked =
        CheckWeights({}, Synthetic(c.actual), false);
    ASSERT_FALSE(checked.has_value());
    EXPECT_THAT(checked.error().message,
                HasSubstr("(they fit " + c.description + "): "));
  }
  const Result<CheckedWeights> none = CheckWeights({}, {}, false);
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, Not(HasSubstr("they fit")));
}

TEST(CheckWeightsTest, MissingAndUnexpectedKeysMayBeAllowed) {
  NamedTensors weights = Synthetic();
  for (const char* name : {"decoder.bn1.weight", "decoder.bn1.running_mean",
                           "decoder.bn1.running_var", "decoder.conv1.weight"})
    Remove(weights, name);
  weights.push_back(
      {.name = "extra", .tensor = *Tensor::Allocate(DType::kFloat32, {1})});
  const Result<CheckedWeights> checked = CheckWeights({}, weights, true);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_EQ(checked->weights.size(), ParameterTable({}).size());
  EXPECT_EQ(
      FindTensor(checked->weights, "decoder.bn1.weight")->As<float>()[127],
      1.0F);
  EXPECT_EQ(
      FindTensor(checked->weights, "decoder.bn1.running_var")->As<float>()[0],
      1.0F);
  EXPECT_EQ(
      FindTensor(checked->weights, "decoder.bn1.running_mean")->As<float>()[0],
      0.0F);
  EXPECT_EQ(
      FindTensor(checked->weights, "decoder.conv1.weight")->As<float>()[0],
      0.0F);
  EXPECT_THAT(
      checked->notes,
      ElementsAre(
          "4 missing in the weights and filled in: "
          "decoder.conv1.weight, decoder.bn1.weight, decoder.bn1.running_mean, "
          "decoder.bn1.running_var",
          "1 unknown in the weights and left out: extra"));
}

TEST(CheckWeightsTest, AWrongShapeIsNeverAllowed) {
  NamedTensors weights = Synthetic();
  At(weights, "refiner.bn1.weight") = *Tensor::Allocate(DType::kFloat32, {});
  const Result<CheckedWeights> checked = CheckWeights({}, weights, true);
  ASSERT_FALSE(checked.has_value());
  EXPECT_THAT(checked.error().message,
              HasSubstr("refiner.bn1.weight is scalar, should be 24"));
}

TEST(CheckWeightsTest, OtherDtypesAreConverted) {
  NamedTensors weights = Synthetic();
  At(weights, "refiner.conv4.bias") =
      Vector<std::uint16_t>(DType::kFloat16, {0x3C00, 0x0001, 0xFC00, 0x8000});
  At(weights, "refiner.bn3.bias") = Vector<std::uint16_t>(
      DType::kBFloat16, std::vector<std::uint16_t>(12, 0x4049));
  At(weights, "refiner.bn3.weight") = Vector<double>(
      DType::kFloat64, std::vector<double>(12, 1.0 + 0x1p-24 + 0x1p-40));
  At(weights, "refiner.bn3.num_batches_tracked") = *Tensor::From<std::int32_t>(
      DType::kInt32, {}, std::vector<std::int32_t>{-7});
  const Result<CheckedWeights> checked = CheckWeights({}, weights, false);
  ASSERT_TRUE(checked.has_value()) << checked.error().message;
  EXPECT_THAT(FindTensor(checked->weights, "refiner.conv4.bias")->As<float>(),
              ElementsAre(1.0F, 0x1p-24F,
                          -std::numeric_limits<float>::infinity(), -0.0F));
  EXPECT_EQ(FindTensor(checked->weights, "refiner.bn3.bias")->As<float>()[11],
            3.140625F);
  EXPECT_EQ(FindTensor(checked->weights, "refiner.bn3.weight")->As<float>()[0],
            1.0F + 0x1p-23F);
  EXPECT_EQ(FindTensor(checked->weights, "refiner.bn3.num_batches_tracked")
                ->As<std::int64_t>()[0],
            -7);
}

}  // namespace
}  // namespace parity
