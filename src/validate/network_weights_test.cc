#include "validate/network_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "networks/matting_config.h"
#include "networks/matting_layers.h"
#include "networks/synthetic_weights.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

constexpr const char* kCheckpoint =
    PARITY_TEST_DATA "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth";

TEST(NetworkWeightsTest,
     ACheckpointOfTheSyntheticWeightsIsBitForBitTheGenerated) {
  const auto read =
      LoadNetworkWeights({.config = {}, .checkpoint = kCheckpoint});
  const auto made = LoadNetworkWeights({.config = {}, .checkpoint = {}});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(WeightsDigest(read->tensors), WeightsDigest(made->tensors));
  EXPECT_EQ(read->source, "mattingrefine-mobilenetv2-synthetic0.pth");
  EXPECT_EQ(made->source, "synthetic seed 0");
}

TEST(NetworkWeightsTest, AnotherConfigurationsCheckpointIsRefusedByItsKeys) {
  const auto resnet = LoadNetworkWeights(
      {.config = {.backbone = Backbone::kResNet50}, .checkpoint = kCheckpoint});
  ASSERT_FALSE(resnet.has_value());
  EXPECT_THAT(resnet.error().message, HasSubstr("backbone.conv1.weight"));
  const auto kernel = LoadNetworkWeights({.config = {.refine_kernel_size = 1},
                                          .checkpoint = kCheckpoint,
                                          .synthetic_seed = 0,
                                          .allow_missing_keys = true});
  ASSERT_FALSE(kernel.has_value());
  EXPECT_THAT(kernel.error().message, HasSubstr("refiner.conv1.weight"));
}

TEST(NetworkWeightsTest, MattingBaseTakesARefinersCheckpointOnlyWhenAsked) {
  const MattingConfig base{.type = MattingType::kBase};
  EXPECT_FALSE(LoadNetworkWeights({.config = base, .checkpoint = kCheckpoint})
                   .has_value());
  const auto allowed = LoadNetworkWeights({.config = base,
                                           .checkpoint = kCheckpoint,
                                           .synthetic_seed = 0,
                                           .allow_missing_keys = true});
  ASSERT_TRUE(allowed.has_value());
  EXPECT_EQ(allowed->tensors.size(), ParameterTable(base).size());
  EXPECT_FALSE(allowed->notes.empty());
}

}  // namespace
}  // namespace parity
