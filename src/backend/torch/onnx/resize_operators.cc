// Resize and Upsample, one axis after the other.
//
// A scale given by sizes is used as the exact quotient of the two lengths: its
// rounding would move a nearest neighbour wherever a place lies on an element.
#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "backend/torch/onnx/axis_resampling.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

// Which axes the inputs speak of, in their order.
std::vector<std::int64_t> ReadAxes(const OperatorContext& context,
                                   std::int64_t rank) {
  std::vector<std::int64_t> axes = context.Integers("axes");
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t& axis : axes) axis = OperatorContext::Axis(axis, rank);
  return axes;
}

std::vector<AxisResize> Unchanged(const at::Tensor& input) {
  std::vector<AxisResize> resizes;
  for (const std::int64_t size : input.sizes())
    resizes.push_back({.input = size, .output = size});
  return resizes;
}

// floor(input · scale) of float32 numbers, as their product in float32: with a
// scale just below 0.7 ten elements become seven in every runtime and in the
// shapes that exporters write.
std::int64_t ScaledLength(std::int64_t input, double extent, double scale) {
  return static_cast<std::int64_t>(
      std::floor(static_cast<float>(input) * static_cast<float>(extent) *
                 static_cast<float>(scale)));
}

void CheckCount(std::string_view what, std::size_t count,
                const std::vector<std::int64_t>& axes) {
  if (count != axes.size())
    throw OperatorError(std::format("{} has {} elements for {} axes", what,
                                    count, axes.size()));
}

void SetScales(const std::vector<double>& scales,
               const std::vector<std::int64_t>& axes, bool crops,
               std::vector<AxisResize>& resizes) {
  CheckCount("scales", scales.size(), axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    AxisResize& resize = resizes[static_cast<std::size_t>(axes[i])];
    if (!(scales[i] > 0)) throw OperatorError("scales must be positive");
    resize.scale = {.numerator = scales[i], .exact = false};
    resize.output = ScaledLength(
        resize.input, crops ? resize.roi_end - resize.roi_start : 1, scales[i]);
  }
}

// not_larger, not_smaller: all axes get the smallest (largest) of the scales,
// and lengths are rounded, halves up.
void KeepAspectRatio(bool larger, const std::vector<std::int64_t>& axes,
                     std::vector<AxisResize>& resizes) {
  AxisScale chosen = resizes[static_cast<std::size_t>(axes.front())].scale;
  for (const std::int64_t axis : axes) {
    const AxisScale& scale = resizes[static_cast<std::size_t>(axis)].scale;
    const double ours = scale.numerator * chosen.denominator;
    const double theirs = chosen.numerator * scale.denominator;
    if (larger ? ours > theirs : ours < theirs) chosen = scale;
  }
  const auto numerator = static_cast<std::int64_t>(chosen.numerator);
  const auto denominator = static_cast<std::int64_t>(chosen.denominator);
  for (const std::int64_t axis : axes) {
    AxisResize& resize = resizes[static_cast<std::size_t>(axis)];
    resize.scale = chosen;
    resize.output =
        ((2 * numerator * resize.input) + denominator) / (2 * denominator);
  }
}

void SetSizes(const std::vector<std::int64_t>& sizes,
              const std::vector<std::int64_t>& axes, const std::string& policy,
              std::vector<AxisResize>& resizes) {
  CheckCount("sizes", sizes.size(), axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    AxisResize& resize = resizes[static_cast<std::size_t>(axes[i])];
    if (sizes[i] < 1 || resize.input < 1)
      throw OperatorError("an axis without elements cannot be resized");
    resize.output = sizes[i];
    resize.scale = {.numerator = static_cast<double>(sizes[i]),
                    .denominator = static_cast<double>(resize.input)};
  }
  if (policy == "not_larger" || policy == "not_smaller")
    KeepAspectRatio(policy == "not_smaller", axes, resizes);
  else if (policy != "stretch")
    throw OperatorError(
        std::format("unknown keep_aspect_ratio_policy {}", policy));
}

bool Changes(const AxisResize& resize, bool crops) {
  return resize.output != resize.input ||
         resize.scale.numerator != resize.scale.denominator ||
         (crops && (resize.roi_start != 0 || resize.roi_end != 1));
}

// Elements that lie outside the input get the value instead.
at::Tensor Extrapolate(const at::Tensor& output, std::int64_t axis,
                       std::int64_t length,
                       const std::vector<AxisPosition>& positions,
                       double value) {
  at::Tensor result = output;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const AxisPosition& position = positions[i];
    const bool outside = position.whole < 0 || position.whole > length - 1 ||
                         (position.whole == length - 1 && position.rest > 0);
    if (!outside) continue;
    if (result.is_same(output)) result = output.clone();
    result.select(axis, static_cast<std::int64_t>(i)).fill_(value);
  }
  return result;
}

at::Tensor ResizeTensor(const at::Tensor& input,
                        const std::vector<AxisResize>& resizes,
                        const ResizeRule& rule, double extrapolation) {
  const bool crops = rule.coordinates == "tf_crop_and_resize";
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < resizes.size(); ++i)
    if (Changes(resizes[i], crops)) order.push_back(i);
  // What shrinks comes first: less to do for the rest.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return static_cast<double>(resizes[i].output) /
           static_cast<double>(resizes[i].input);
  });
  at::Tensor value = input;
  // Integers are interpolated in floating numbers, and cut off once.
  if (rule.mode != "nearest" && !c10::isFloatingType(input.scalar_type()))
    value = value.to(at::kDouble);
  for (const std::size_t i : order)
    value = ResampleAxis(
        value, static_cast<std::int64_t>(i),
        ResizeTaps(resizes[i], ResizePositions(resizes[i], rule.coordinates),
                   rule));
  if (crops)
    for (const std::size_t i : order)
      value = Extrapolate(value, static_cast<std::int64_t>(i), resizes[i].input,
                          ResizePositions(resizes[i], rule.coordinates),
                          extrapolation);
  return value.to(input.scalar_type());
}

// opset 7 and 9, and Resize of opset 10: places are x/scale, rounded down.
std::vector<at::Tensor> ResizeByScales(const OperatorContext& context,
                                       const std::vector<double>& scales) {
  const at::Tensor& input = context.Input(0);
  std::vector<AxisResize> resizes = Unchanged(input);
  SetScales(scales, ReadAxes(context, input.dim()), false, resizes);
  const ResizeRule rule{.mode = context.String("mode", "nearest"),
                        .coordinates = "asymmetric",
                        .nearest_mode = "floor"};
  return {ResizeTensor(input, resizes, rule, 0)};
}

std::vector<at::Tensor> Upsample(const OperatorContext& context) {
  return ResizeByScales(context, context.opset() < 9 ? context.Floats("scales")
                                                     : context.FloatsInput(1));
}

void SetRegion(const OperatorContext& context,
               const std::vector<std::int64_t>& axes,
               std::vector<AxisResize>& resizes) {
  const std::vector<double> roi = context.FloatsInput(1);
  CheckCount("half of roi", roi.size() / 2, axes);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    AxisResize& resize = resizes[static_cast<std::size_t>(axes[i])];
    resize.roi_start = roi[i];
    resize.roi_end = roi[axes.size() + i];
  }
}

std::vector<at::Tensor> Resize(const OperatorContext& context) {
  if (context.opset() < 11)
    return ResizeByScales(context, context.FloatsInput(1));
  const at::Tensor& input = context.Input(0);
  const ResizeRule rule{
      .mode = context.String("mode", "nearest"),
      .coordinates =
          context.String("coordinate_transformation_mode", "half_pixel"),
      .nearest_mode = context.String("nearest_mode", "round_prefer_floor"),
      .cubic_coefficient = context.Float("cubic_coeff_a", -0.75),
      .exclude_outside = context.Integer("exclude_outside", 0) != 0,
      .antialias = context.Integer("antialias", 0) != 0};
  const std::vector<std::int64_t> axes = ReadAxes(context, input.dim());
  std::vector<AxisResize> resizes = Unchanged(input);
  const bool crops = rule.coordinates == "tf_crop_and_resize";
  if (crops) SetRegion(context, axes, resizes);
  // Before opset 13 an input that is not used may be there without elements.
  const bool by_sizes = context.HasInput(3) && context.Input(3).numel() > 0;
  if (by_sizes)
    SetSizes(context.IntegersInput(3), axes,
             context.String("keep_aspect_ratio_policy", "stretch"), resizes);
  else
    SetScales(context.FloatsInput(2), axes, crops, resizes);
  return {ResizeTensor(input, resizes, rule,
                       context.Float("extrapolation_value", 0))};
}

}  // namespace

void AddResizeOperators(OperatorTable& table) {
  table["Resize"] = Resize;
  table["Upsample"] = Upsample;
}

}  // namespace parity
