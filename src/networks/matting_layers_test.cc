#include "networks/matting_layers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "parity/tensor.h"

namespace parity {
namespace {

TEST(ParameterTableTest, HasExactlyTheKeysOfAPublishedCheckpoint) {
  for (const Backbone backbone :
       {Backbone::kMobileNetV2, Backbone::kResNet50, Backbone::kResNet101}) {
    std::ifstream list(std::string(PARITY_TEST_DATA "/networks/state_dict_") +
                       std::string(Name(backbone)) + ".txt");
    ASSERT_TRUE(list.is_open());
    std::ostringstream expected;
    expected << list.rdbuf();
    std::ostringstream actual;
    for (const Parameter& parameter : ParameterTable({.backbone = backbone})) {
      actual << parameter.name << ' ' << ToString(parameter.shape) << '\n';
    }
    EXPECT_EQ(actual.str(), expected.str()) << Name(backbone);
  }
}

TEST(ParameterTableTest, MattingBaseHasNoRefiner) {
  for (const Parameter& parameter :
       ParameterTable({.type = MattingType::kBase})) {
    EXPECT_FALSE(parameter.name.starts_with("refiner.")) << parameter.name;
  }
}

TEST(ParameterTableTest, KernelSizeOneShrinksOnlyTheRefiner) {
  const std::vector<Parameter> three =
      ParameterTable({.refine_kernel_size = 3});
  const std::vector<Parameter> one = ParameterTable({.refine_kernel_size = 1});
  ASSERT_EQ(one.size(), three.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    const bool differs = one[i].shape != three[i].shape;
    EXPECT_EQ(differs, one[i].name.starts_with("refiner.conv") &&
                           one[i].name.ends_with(".weight"))
        << one[i].name;
  }
}

TEST(MobileNetV2BlocksTest, TheLastStrideBecomesDilation) {
  const std::vector<InvertedResidual> blocks = MobileNetV2Blocks();
  ASSERT_EQ(blocks.size(), 17U);
  EXPECT_EQ(blocks[13].stride, 1);
  EXPECT_FALSE(
      blocks[13].residual);  // its stride was 2 in the unmodified network
  EXPECT_EQ(blocks[13].dilation, 1);
  EXPECT_EQ(blocks[14].dilation, 2);
  EXPECT_TRUE(blocks[14].residual);
}

}  // namespace
}  // namespace parity
