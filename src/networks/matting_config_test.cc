#include "networks/matting_config.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace parity {
namespace {

TEST(MattingConfigTest, AttributesLeadBackToTheConfiguration) {
  MattingConfig config;
  config.backbone = Backbone::kResNet101;
  config.backbone_scale = 1.0 / 3;
  config.refine_mode = RefineMode::kThresholding;
  config.refine_threshold = 0.1;
  config.refine_kernel_size = 1;
  config.refine_prevent_oversampling = false;
  EXPECT_EQ(ConfigFromAttributes(ToAttributes(config)), config);
}

TEST(MattingConfigTest, ValuesOutOfRangeAreNamed) {
  const std::map<std::string, std::map<std::string, std::string>> bad = {
      {"backbone_scale 0.75 is outside (0, 0.5]", {{"backbone_scale", "0.75"}}},
      {"backbone_scale nan is outside (0, 0.5]", {{"backbone_scale", "nan"}}},
      {"backbone_scale '1/4' is not a number", {{"backbone_scale", "1/4"}}},
      {"refine_kernel_size 2 is neither 1 nor 3",
       {{"refine_kernel_size", "2"}}},
      {"refine_sample_pixels -16 is negative",
       {{"refine_sample_pixels", "-16"}}},
      {"refine_threshold 1.5 is outside [0, 1]", {{"refine_threshold", "1.5"}}},
      {"backbone 'vgg' is none of resnet50, resnet101, mobilenetv2",
       {{"backbone", "vgg"}}},
  };
  for (const auto& [message, attributes] : bad) {
    const auto config = ConfigFromAttributes(attributes);
    ASSERT_FALSE(config.has_value()) << message;
    EXPECT_EQ(config.error().message, message);
  }
}

}  // namespace
}  // namespace parity
