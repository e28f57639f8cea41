// Resize, and what samples images at regions and grids.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_call.h"
#include "backend/torch/onnx/operator_context.h"
#include "graph/model.h"

namespace parity {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Pointwise;
using Integers = std::vector<std::int64_t>;

Attribute Mode(const std::string& mode) { return {"mode", mode}; }
Attribute Coordinates(const std::string& mode) {
  return {"coordinate_transformation_mode", mode};
}

std::vector<double> ResizeTo(const std::vector<double>& line,
                             std::int64_t length,
                             const std::vector<Attribute>& attributes) {
  return Elements(
      Output({"Resize",
              19,
              {Doubles(line, {static_cast<std::int64_t>(line.size())}),
               {},
               {},
               Longs({length})},
              attributes}));
}

std::vector<double> ResizeBy(const std::vector<double>& line, float scale,
                             const std::vector<Attribute>& attributes) {
  return Elements(
      Output({"Resize",
              19,
              {Doubles(line, {static_cast<std::int64_t>(line.size())}),
               {},
               Doubles({scale}, {1})},
              attributes}));
}

std::vector<double> Counting(std::int64_t count) {
  return Elements(at::arange(count, at::kDouble));
}

// 26/64 as a rounded scale puts places beside the elements they lie on.
TEST(ResizeTest, NearestUsesTheExactQuotientOfSizes) {
  const std::vector<double> actual = ResizeTo(
      Counting(26), 64,
      {Coordinates("asymmetric"), {"nearest_mode", std::string("floor")}});
  ASSERT_EQ(actual.size(), 64U);
  for (std::int64_t x = 0; x < 64; ++x)
    EXPECT_EQ(actual[static_cast<std::size_t>(x)], (x * 26) / 64) << x;
}

TEST(ResizeTest, NearestHalvesGoWhereTheModeSays) {
  for (std::int64_t length = 1; length <= 24; ++length) {
    for (std::int64_t wanted = 1; wanted <= 24; ++wanted) {
      const std::vector<double> low = ResizeTo(Counting(length), wanted, {});
      const std::vector<double> high =
          ResizeTo(Counting(length), wanted,
                   {{"nearest_mode", std::string("round_prefer_ceil")}});
      for (std::int64_t x = 0; x < wanted; ++x) {
        // Place + 1/2 is this quotient; halves are where it is whole.
        const std::int64_t dividend = ((2 * x) + 1) * length;
        const std::int64_t divisor = 2 * wanted;
        const std::int64_t up = dividend / divisor;
        const std::int64_t down = up - (dividend % divisor == 0 ? 1 : 0);
        const auto i = static_cast<std::size_t>(x);
        EXPECT_EQ(low[i], std::max<std::int64_t>(down, 0))
            << length << " to " << wanted;
        EXPECT_EQ(high[i], std::min(up, length - 1))
            << length << " to " << wanted;
      }
    }
  }
}

TEST(ResizeTest, OutputOfOneElementStartsAtTheFirstInSomeModes) {
  const std::vector<double> line = {10, 20, 30, 40};
  const auto one = [&](const std::string& coordinates) {
    return ResizeTo(line, 1, {Mode("linear"), Coordinates(coordinates)});
  };
  EXPECT_THAT(one("half_pixel"), ElementsAre(25));
  EXPECT_THAT(one("pytorch_half_pixel"), ElementsAre(10));
  EXPECT_THAT(one("align_corners"), ElementsAre(10));
  EXPECT_THAT(one("asymmetric"), ElementsAre(10));
}

TEST(ResizeTest, LinearPlacesDependOnTheCoordinates) {
  const std::vector<double> line = {0, 1};
  const auto four = [&](const std::string& coordinates) {
    return ResizeTo(line, 4, {Mode("linear"), Coordinates(coordinates)});
  };
  EXPECT_THAT(four("half_pixel"), ElementsAre(0, 0.25, 0.75, 1));
  EXPECT_THAT(four("pytorch_half_pixel"), ElementsAre(0, 0.25, 0.75, 1));
  EXPECT_THAT(four("asymmetric"), ElementsAre(0, 0.5, 1, 1));
  EXPECT_THAT(four("align_corners"),
              Pointwise(DoubleNear(1e-15),
                        std::vector<double>{0, 1 / 3.0, 2 / 3.0, 1}));
}

// length_resized is the length of the output, 2, and not 4 times the scale.
TEST(ResizeTest, AlignCornersReachesTheLastElementWithScales) {
  EXPECT_THAT(ResizeBy({1, 2, 3, 4}, 0.6F,
                       {Mode("linear"), Coordinates("align_corners")}),
              ElementsAre(1, 4));
}

TEST(ResizeTest, SymmetricHalfPixelsKeepTheMiddle) {
  EXPECT_THAT(
      ResizeBy({1, 2, 3, 4}, 0.6F,
               {Mode("linear"), Coordinates("half_pixel_symmetric")}),
      ElementsAre(DoubleNear(5 / 3.0, 1e-6), DoubleNear(10 / 3.0, 1e-6)));
}

TEST(ResizeTest, LengthsFromScalesAreProductsInFloat32) {
  // 10 · 0.7F is 6.9999999 in float64.
  EXPECT_EQ(ResizeBy(Counting(10), 0.7F, {}).size(), 7U);
}

TEST(ResizeTest, CropsReadBeyondTheInputAsTheGivenValue) {
  EXPECT_THAT(Elements(Output({"Resize",
                               13,
                               {Doubles({0, 1, 2, 3}, {4}),
                                Doubles({0.5, 1.5}, {2}),
                                {},
                                Longs({3})},
                               {Mode("linear"),
                                Coordinates("tf_crop_and_resize"),
                                {"extrapolation_value", -7.0F}}})),
              ElementsAre(1.5, 3, -7));
}

TEST(ResizeTest, CubicWeightsAreThoseOfTheKernel) {
  const std::vector<double> line = {1, 10, 100, 1000};
  const std::vector<double> all = ResizeTo(line, 8, {Mode("cubic")});
  EXPECT_DOUBLE_EQ(all[3], (-0.10546875 * 1) + (0.87890625 * 10) +
                               (0.26171875 * 100) + (-0.03515625 * 1000));
  // Two of four taps lie before the first element.
  const std::vector<double> inside =
      ResizeTo(line, 8, {Mode("cubic"), {"exclude_outside", std::int64_t{1}}});
  EXPECT_NEAR(
      inside[0],
      ((0.87890625 * 1) + (-0.10546875 * 10)) / (0.87890625 - 0.10546875),
      1e-14);
}

TEST(ResizeTest, AntialiasWidensTheKernel) {
  EXPECT_THAT(ResizeTo({1, 2, 3, 4}, 2,
                       {Mode("linear"), {"antialias", std::int64_t{1}}}),
              ElementsAre(1.625, 3.375));
}

TEST(ResizeTest, AxesAreResizedOneByOne) {
  const at::Tensor x = Doubles({1, 2, 3, 4}, {1, 2, 2});
  const at::Tensor y = Output({"Resize",
                               18,
                               {x, {}, {}, Longs({3, 1})},
                               {Mode("linear"),
                                {"axes", Integers{-1, 1}},
                                Coordinates("align_corners")}});
  EXPECT_EQ(y.sizes().vec(), (Integers{1, 1, 3}));
  EXPECT_THAT(Elements(y), ElementsAre(1, 1.5, 2));
  EXPECT_THAT(Elements(x), ElementsAre(1, 2, 3, 4));
}

TEST(ResizeTest, IntegersKeepTheirType) {
  const at::Tensor y =
      Output({"Resize", 13, {Longs({1, 1L << 60}), {}, {}, Longs({4})}});
  EXPECT_EQ(y.scalar_type(), at::kLong);
  EXPECT_EQ(y[3].item<std::int64_t>(), 1L << 60);
}

TEST(UpsampleTest, RoundsPlacesDown) {
  EXPECT_THAT(
      Elements(Output(
          {"Upsample", 9, {Doubles({1, 2}, {2}), Doubles({2.5F}, {1})}})),
      ElementsAre(1, 1, 1, 2, 2));
  EXPECT_THAT(
      Elements(Output({"Upsample",
                       7,
                       {Doubles({0, 1}, {2})},
                       {Mode("linear"), {"scales", std::vector{2.0F}}}})),
      ElementsAre(0, 0.5, 1, 1));
}

// Pixel (y, x) of 4×4 is 100 + 4y + x.
double Region(const std::vector<double>& corners, std::int64_t opset,
              const std::vector<Attribute>& attributes) {
  const at::Tensor image =
      at::arange(100, 116, at::kDouble).reshape({1, 1, 4, 4});
  return Output({"RoiAlign",
                 opset,
                 {image, Doubles(corners, {1, 4}), Longs({0})},
                 attributes})
      .item<double>();
}

TEST(RoiAlignTest, HalfPixelsShiftTheRegion) {
  const Attribute single = {"sampling_ratio", std::int64_t{1}};
  const Attribute output = Coordinates("output_half_pixel");
  EXPECT_EQ(Region({1, 1, 3, 3}, 16, {single}), 107.5);
  EXPECT_EQ(Region({1, 1, 3, 3}, 16, {single, output}), 110);
  EXPECT_EQ(Region({1, 1, 3, 3}, 10, {single}), 110);
  // Small regions are at least one pixel only without the shift.
  EXPECT_EQ(Region({1, 1, 1.5, 1.5}, 16, {single}), 103.75);
  EXPECT_EQ(Region({1, 1, 1.5, 1.5}, 16, {single, output}), 107.5);
}

TEST(RoiAlignTest, SamplesOutsideAreTheBorderOrZero) {
  const Attribute single = {"sampling_ratio", std::int64_t{1}};
  EXPECT_EQ(Region({-1, -1, 1, 1}, 16, {single}), 100);        // at -0.5
  EXPECT_EQ(Region({-6, -6, -2, -2}, 16, {single}), 0);        // at -4.5
  EXPECT_EQ(Region({3.5, 3.5, 5.5, 5.5}, 16, {single}), 115);  // at 4
  EXPECT_EQ(Region({3.6, 3.6, 5.6, 5.6}, 16, {single}), 0);
}

TEST(RoiAlignTest, AdaptiveSamplingTakesOneForEachPixel) {
  EXPECT_EQ(Region({0, 0, 3, 3}, 16, {}), 105);  // 0, 1, 2 along both axes
  EXPECT_EQ(Region({0, 0, 3, 3}, 16, {Mode("max")}), 110);
}

TEST(MaxRoiPoolTest, BinsOutsideAreZero) {
  const at::Tensor image = at::arange(16, at::kDouble).reshape({1, 1, 4, 4});
  const at::Tensor regions = Doubles({0, 0, 0, 3, 3, 0, 2, 2, 5, 5}, {2, 5});
  EXPECT_THAT(Elements(Output({"MaxRoiPool",
                               7,
                               {image, regions},
                               {{"pooled_shape", Integers{2, 2}}}})),
              ElementsAre(5, 7, 13, 15, 15, 0, 0, 0));
}

double Sampled(double x, double y, const std::vector<Attribute>& attributes) {
  return Output({"GridSample",
                 16,
                 {Doubles({1, 2, 3, 4}, {1, 1, 2, 2}),
                  Doubles({x, y}, {1, 1, 1, 2})},
                 attributes})
      .item<double>();
}

TEST(GridSampleTest, PaddingDecidesWhatLiesOutside) {
  EXPECT_EQ(Sampled(0, 0, {}), 2.5);
  EXPECT_EQ(Sampled(1, -1, {}), 0.5);
  EXPECT_EQ(Sampled(1, -1, {{"padding_mode", std::string("border")}}), 2);
  EXPECT_EQ(Sampled(1, -1, {{"padding_mode", std::string("reflection")}}), 2);
  EXPECT_EQ(Sampled(2, -1, {{"padding_mode", std::string("reflection")}}), 1.5);
}

// Place 3.25 lies between pixel 3 and a repetition of it.
TEST(GridSampleTest, CubicInterpolationContinuesTheBorder) {
  const at::Tensor y = Output({"GridSample",
                               20,
                               {Doubles({1, 10, 100, 1000}, {1, 1, 1, 4}),
                                Doubles({(3.25 / 1.5) - 1, 0}, {1, 1, 1, 2})},
                               {Mode("cubic"),
                                {"padding_mode", std::string("border")},
                                {"align_corners", std::int64_t{1}}}});
  EXPECT_NEAR(y.item<double>(), (-0.10546875 * 100) + (1.10546875 * 1000),
              1e-9);
}

TEST(GridSampleTest, NearestHalvesGoToTheEvenPixel) {
  EXPECT_EQ(
      Sampled(0, 0, {Mode("nearest"), {"align_corners", std::int64_t{1}}}), 1);
}

}  // namespace
}  // namespace parity
