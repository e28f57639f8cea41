#include "sweep/sweep_axes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::vector<std::string> ValuesOf(const std::vector<Axis>& axes,
                                  std::string_view name) {
  for (const Axis& axis : axes) {
    if (axis.name == name) return axis.values;
  }
  return {"no such axis"};
}

TEST(ExportAxesTest, TheDefaultIsEveryPatchMethodAtTheUsersConfiguration) {
  MattingConfig config;
  config.refine_mode = RefineMode::kThresholding;
  config.backbone = Backbone::kResNet50;
  const auto axes = ExportAxes({}, config);
  ASSERT_TRUE(axes.has_value()) << axes.error().message;
  EXPECT_THAT(ValuesOf(*axes, "crop"),
              ElementsAre("unfold", "roi_align", "gather"));
  EXPECT_THAT(ValuesOf(*axes, "replace"),
              ElementsAre("scatter_nd", "scatter_element"));
  EXPECT_THAT(ValuesOf(*axes, "refine_mode"), ElementsAre("thresholding"));
  EXPECT_THAT(ValuesOf(*axes, "backbone"), ElementsAre("resnet50"));
  EXPECT_THAT(ValuesOf(*axes, "backbone_scale"), ElementsAre("0.25"));
  EXPECT_THAT(ValuesOf(*axes, "kernel_size"), ElementsAre("3"));
  EXPECT_THAT(ValuesOf(*axes, "opset"), ElementsAre("12"));
  EXPECT_THAT(ValuesOf(*axes, "precision"), ElementsAre("float32"));
}

TEST(ExportAxesTest, AllAmongOthersIsRefusedForWhatItIs) {
  SweepAxes given;
  given.opset = {"all", "12"};
  const auto axes = ExportAxes(given, {});
  ASSERT_FALSE(axes.has_value());
  EXPECT_EQ(axes.error().message, "--opset: 'all' stands alone, not in a list");
  EXPECT_EQ(OptimizationValues({"none"}).error().message,
            "--optimization: 'none' is none of disabled, basic, extended, all");
  EXPECT_TRUE(OptimizationValues({"basic", "all"}).has_value());
  EXPECT_FALSE(ShapeValues({"1x3x8x8", "all"}, true).has_value());
}

TEST(ExportAxesTest, AllIsEveryValue) {
  SweepAxes given;
  given.refine_mode = given.backbone = given.kernel_size = given.opset =
      given.precision = given.crop = {"all"};
  const auto axes = ExportAxes(given, {});
  ASSERT_TRUE(axes.has_value()) << axes.error().message;
  EXPECT_THAT(ValuesOf(*axes, "refine_mode"),
              ElementsAre("full", "sampling", "thresholding"));
  EXPECT_THAT(ValuesOf(*axes, "backbone"), SizeIs(3));
  EXPECT_THAT(ValuesOf(*axes, "kernel_size"), ElementsAre("1", "3"));
  EXPECT_THAT(ValuesOf(*axes, "opset"), SizeIs(10));
  EXPECT_THAT(ValuesOf(*axes, "precision"), ElementsAre("float32", "float16"));
  EXPECT_THAT(ValuesOf(*axes, "crop"), SizeIs(3));
}

TEST(ExportAxesTest, AListKeepsItsOrderAndOtherScalesAreTaken) {
  SweepAxes given;
  given.crop = {"gather", "unfold"};
  given.backbone_scale = {"0.3", "0.125"};
  const auto axes = ExportAxes(given, {});
  ASSERT_TRUE(axes.has_value());
  EXPECT_THAT(ValuesOf(*axes, "crop"), ElementsAre("gather", "unfold"));
  EXPECT_THAT(ValuesOf(*axes, "backbone_scale"), ElementsAre("0.3", "0.125"));
}

TEST(ExportAxesTest, WhatIsNoValueIsRefusedWithThoseThereAre) {
  SweepAxes given;
  given.crop = {"gather", "scatter"};
  auto axes = ExportAxes(given, {});
  ASSERT_FALSE(axes.has_value());
  EXPECT_EQ(axes.error().message,
            "--crop: 'scatter' is none of unfold, roi_align, gather, all");
  given.crop = {"gather", "gather"};
  axes = ExportAxes(given, {});
  ASSERT_FALSE(axes.has_value());
  EXPECT_EQ(axes.error().message, "--crop: 'gather' is given twice");
  given.crop.clear();
  given.kernel_size = {"5"};
  axes = ExportAxes(given, {});
  ASSERT_FALSE(axes.has_value());
  EXPECT_THAT(axes.error().message, HasSubstr("--kernel-size: '5'"));
}

TEST(ExportAxesTest, MattingBaseHasNoRefinerToVary) {
  MattingConfig config;
  config.type = MattingType::kBase;
  auto axes = ExportAxes({}, config);
  ASSERT_TRUE(axes.has_value());
  EXPECT_THAT(*axes, SizeIs(3));
  SweepAxes given;
  given.crop = {"all"};
  axes = ExportAxes(given, config);
  ASSERT_FALSE(axes.has_value());
  EXPECT_THAT(axes.error().message, HasSubstr("--crop has no meaning"));
}

TEST(ExportAxesTest, AModelThatIsThereHasNone) {
  SweepAxes given;
  given.provider = {"all"};
  EXPECT_TRUE(CheckNoExportAxes(given).has_value());
  given.backbone_scale = {"0.5"};
  const auto checked = CheckNoExportAxes(given);
  ASSERT_FALSE(checked.has_value());
  EXPECT_THAT(checked.error().message, HasSubstr("--backbone-scale"));
}

TEST(OptimizationValuesTest, AllAloneIsEveryLevelAmongOthersItIsOne) {
  EXPECT_THAT(*OptimizationValues({}), ElementsAre("all"));
  EXPECT_THAT(*OptimizationValues({"all"}),
              ElementsAre("all", "extended", "basic", "disabled"));
  EXPECT_THAT(*OptimizationValues({"disabled", "all"}),
              ElementsAre("disabled", "all"));
  EXPECT_FALSE(OptimizationValues({"most"}).has_value());
}

TEST(ProviderValuesTest, AllOfTheRuntimeTheCpuFirst) {
  const std::vector<std::string> available = {"DnnlExecutionProvider",
                                              "XnnpackExecutionProvider",
                                              "CPUExecutionProvider"};
  const auto all = ElementsAre("CPUExecutionProvider", "DnnlExecutionProvider",
                               "XnnpackExecutionProvider");
  EXPECT_THAT(ProviderValues({}, available), all);
  EXPECT_THAT(ProviderValues({"all"}, available), all);
  // A library that does not load still gets its row.
  EXPECT_THAT(ProviderValues({}, {}), ElementsAre("CPUExecutionProvider"));
}

TEST(ProviderValuesTest, ShortNamesInAnyCaseAreTaken) {
  const std::vector<std::string> available = {"DnnlExecutionProvider",
                                              "CPUExecutionProvider"};
  EXPECT_THAT(
      ProviderValues({"dnnl", "CPU", "cpuexecutionprovider"}, available),
      ElementsAre("DnnlExecutionProvider", "CPUExecutionProvider"));
  // What the runtime does not have is named as ONNX Runtime spells it.
  EXPECT_THAT(ProviderValues({"cpu", "CUDA"}, {}),
              ElementsAre("CPUExecutionProvider", "CUDAExecutionProvider"));
  EXPECT_THAT(ProviderValues({"openvino", "XExecutionProvider"}, available),
              ElementsAre("OpenVINOExecutionProvider", "XExecutionProvider"));
}

TEST(ShapesOfTest, OneShapeIsForEveryInput) {
  const auto shapes = ShapesOf("1x3x8x16", {"src", "bgr"});
  ASSERT_TRUE(shapes.has_value());
  EXPECT_THAT(*shapes, ElementsAre(Pair("bgr", ElementsAre(1, 3, 8, 16)),
                                   Pair("src", ElementsAre(1, 3, 8, 16))));
}

TEST(ShapesOfTest, NamedShapesAreJoinedByPlus) {
  const auto shapes = ShapesOf("x=1x4+y=scalar", {"x", "y", "z"});
  ASSERT_TRUE(shapes.has_value()) << shapes.error().message;
  EXPECT_THAT(*shapes,
              ElementsAre(Pair("x", ElementsAre(1, 4)), Pair("y", IsEmpty())));
}

TEST(ShapesOfTest, OtherTextsAreRefused) {
  EXPECT_THAT(ShapesOf("q=1x4", {"x"}).error().message,
              HasSubstr("no input 'q'; it has x"));
  EXPECT_FALSE(ShapesOf("1xbig", {"x"}).has_value());
  EXPECT_FALSE(ShapesOf("x=1x4+2x2", {"x", "y"}).has_value());
  EXPECT_FALSE(ShapesOf("=1x4", {"x"}).has_value());
}

TEST(ShapeValuesTest, AllIsThreeSizesOfPicturesForTheNetworkAlone) {
  EXPECT_THAT(*ShapeValues({"all"}, true), SizeIs(3));
  EXPECT_FALSE(ShapeValues({"all"}, false).has_value());
  EXPECT_FALSE(ShapeValues({"1x4", "1x4"}, false).has_value());
  EXPECT_THAT(*ShapeValues({}, false), IsEmpty());
}

}  // namespace
}  // namespace parity
