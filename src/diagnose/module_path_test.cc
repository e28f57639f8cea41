#include "diagnose/module_path.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

namespace parity {
namespace {

struct Case {
  std::string_view name;
  std::string_view path;
};

void ExpectPaths(std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(ModulePathOf(c.name), c.path) << c.name;
}

TEST(ModulePathTest, SlashesSeparateModules) {
  ExpectPaths({
      {"/backbone/layer1/0/conv1/Conv", "backbone.layer1.0.conv1"},
      {"/backbone/layer1/0/conv1/Conv_1", "backbone.layer1.0.conv1"},
      {"/conv1/Conv", "conv1"},
      {"/conv1/Conv_output_0", "conv1"},
  });
}

TEST(ModulePathTest, ContainersAreNotRepeated) {
  ExpectPaths({
      {"/layer1/layer1.0/conv1/Conv", "layer1.0.conv1"},
      {"/backbone/layer1/layer1.0/conv1/Conv_1", "backbone.layer1.0.conv1"},
      {"/features/features.1/conv/conv.0/conv.0.0/Conv", "features.1.conv.0.0"},
      {"/0/0.1/Relu", "0.1"},
  });
}

TEST(ModulePathTest, LikeNamesAreNoRepetition) {
  ExpectPaths({
      // "er1" is no component of the path.
      {"/layer1/er1.0/Conv", "layer1.er1.0"},
      {"/layer1/layer10/Conv", "layer1.layer10"},
      {"/conv/conv/Conv", "conv.conv"},
      {"/a/b.0/Conv", "a.b.0"},
  });
}

TEST(ModulePathTest, OtherNamesHaveNoModule) {
  ExpectPaths({
      {"/Mul", ""},
      {"/Mul_3", ""},
      {"Conv_12", ""},
      {"node_conv2d_1", ""},
      {"backbone/layer1/Conv", ""},
      {"", ""},
      {"/", ""},
      {"//Conv", ""},
      {"/a//b/Conv", "a.b"},
      {"/.0/Conv", ".0"},
  });
}

}  // namespace
}  // namespace parity
