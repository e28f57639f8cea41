#include "backend/torch/onnx/axis_resampling.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {
namespace {

AxisPosition FromReal(double position) {
  const double whole = std::floor(position);
  return {.whole = static_cast<std::int64_t>(whole), .rest = position - whole};
}

AxisPosition FromQuotient(std::int64_t dividend, std::int64_t divisor) {
  std::int64_t whole = dividend / divisor;
  std::int64_t remainder = dividend % divisor;
  if (remainder < 0) {
    remainder += divisor;
    --whole;
  }
  return {
      .whole = whole,
      .rest = static_cast<double>(remainder) / static_cast<double>(divisor)};
}

// (x + before/2) / scale - after/2
AxisPosition Scaled(std::int64_t x, const AxisScale& scale, std::int64_t before,
                    std::int64_t after) {
  if (!scale.exact) {
    return FromReal(
        ((static_cast<double>(x) + static_cast<double>(before) / 2) /
         scale.Value()) -
        (static_cast<double>(after) / 2));
  }
  const auto numerator = static_cast<std::int64_t>(scale.numerator);
  const auto denominator = static_cast<std::int64_t>(scale.denominator);
  return FromQuotient((((2 * x) + before) * denominator) - (after * numerator),
                      2 * numerator);
}

// Half pixels, but with the middle kept in place when scale · input is no
// integer.
AxisPosition Symmetric(std::int64_t x, const AxisResize& axis) {
  const double length = static_cast<double>(axis.input);
  const double adjustment = static_cast<double>(axis.output) *
                            axis.scale.denominator /
                            (axis.scale.numerator * length);
  if (adjustment == 1) return Scaled(x, axis.scale, 1, 1);
  const double offset = length / 2 * (1 - adjustment);
  return FromReal(offset +
                  ((static_cast<double>(x) + 0.5) / axis.scale.Value()) - 0.5);
}

AxisPosition Cropped(std::int64_t x, const AxisResize& axis) {
  const double last = static_cast<double>(axis.input - 1);
  if (axis.output <= 1)
    return FromReal(0.5 * (axis.roi_start + axis.roi_end) * last);
  return FromReal((axis.roi_start * last) +
                  (static_cast<double>(x) * (axis.roi_end - axis.roi_start) *
                   last / static_cast<double>(axis.output - 1)));
}

AxisPosition Position(std::int64_t x, const AxisResize& axis,
                      const std::string& coordinates) {
  if (coordinates == "half_pixel") return Scaled(x, axis.scale, 1, 1);
  if (coordinates == "asymmetric") return Scaled(x, axis.scale, 0, 0);
  if (coordinates == "pytorch_half_pixel")
    return axis.output > 1 ? Scaled(x, axis.scale, 1, 1) : AxisPosition{};
  if (coordinates == "align_corners")
    return axis.output > 1 ? FromQuotient(x * (axis.input - 1), axis.output - 1)
                           : AxisPosition{};
  // Of opset 11 only.
  if (coordinates == "tf_half_pixel_for_nn") return Scaled(x, axis.scale, 1, 0);
  if (coordinates == "half_pixel_symmetric") return Symmetric(x, axis);
  if (coordinates == "tf_crop_and_resize") return Cropped(x, axis);
  throw OperatorError(
      std::format("unknown coordinate_transformation_mode {}", coordinates));
}

std::int64_t Nearest(const AxisPosition& position, const std::string& mode) {
  if (mode == "floor") return position.whole;
  if (mode == "ceil") return position.whole + (position.rest > 0 ? 1 : 0);
  if (mode == "round_prefer_floor")
    return position.whole + (position.rest > 0.5 ? 1 : 0);
  if (mode == "round_prefer_ceil")
    return position.whole + (position.rest >= 0.5 ? 1 : 0);
  throw OperatorError(std::format("unknown nearest_mode {}", mode));
}

double LinearKernel(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}

double CubicKernel(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((((a + 2) * x) - (a + 3)) * x * x) + 1;
  if (x < 2) return (((((a * x) - (5 * a)) * x) + (8 * a)) * x) - (4 * a);
  return 0;
}

// Sets the weights of output element i. With `stretch` below one the kernel is
// wider by its inverse.
void SetKernelTaps(const AxisPosition& position, std::int64_t first,
                   const AxisResize& axis, const ResizeRule& rule,
                   double stretch, std::size_t i, AxisTaps& taps) {
  const auto width = static_cast<std::size_t>(taps.width);
  double sum = 0;
  for (std::size_t k = 0; k < width; ++k) {
    const std::int64_t step = first + static_cast<std::int64_t>(k);
    const double distance =
        (static_cast<double>(step) - position.rest) * stretch;
    double weight = rule.mode == "cubic"
                        ? CubicKernel(distance, rule.cubic_coefficient)
                        : LinearKernel(distance);
    const std::int64_t index = position.whole + step;
    if (rule.exclude_outside && (index < 0 || index >= axis.input)) weight = 0;
    taps.indices[(i * width) + k] =
        std::clamp<std::int64_t>(index, 0, axis.input - 1);
    taps.weights[(i * width) + k] = weight;
    sum += weight;
  }
  if (!rule.exclude_outside && stretch == 1) return;
  for (std::size_t k = 0; k < width; ++k) taps.weights[(i * width) + k] /= sum;
}

}  // namespace

std::vector<AxisPosition> ResizePositions(const AxisResize& axis,
                                          const std::string& coordinates) {
  std::vector<AxisPosition> positions;
  positions.reserve(static_cast<std::size_t>(axis.output));
  for (std::int64_t x = 0; x < axis.output; ++x)
    positions.push_back(Position(x, axis, coordinates));
  return positions;
}

AxisTaps ResizeTaps(const AxisResize& axis,
                    const std::vector<AxisPosition>& positions,
                    const ResizeRule& rule) {
  AxisTaps taps;
  if (rule.mode == "nearest") {
    for (const AxisPosition& position : positions)
      taps.indices.push_back(std::clamp<std::int64_t>(
          Nearest(position, rule.nearest_mode), 0, axis.input - 1));
    taps.weights.assign(positions.size(), 1);
    return taps;
  }
  if (rule.mode != "linear" && rule.mode != "cubic")
    throw OperatorError(std::format("unknown mode {}", rule.mode));
  const double stretch =
      rule.antialias ? std::min(1.0, axis.scale.Value()) : 1.0;
  const double radius = rule.mode == "cubic" ? 2 : 1;
  const std::int64_t first =
      static_cast<std::int64_t>(std::floor(-radius / stretch)) + 1;
  taps.width = 2 - (2 * first);
  taps.indices.resize(positions.size() * static_cast<std::size_t>(taps.width));
  taps.weights.resize(taps.indices.size());
  for (std::size_t i = 0; i < positions.size(); ++i)
    SetKernelTaps(positions[i], first, axis, rule, stretch, i, taps);
  return taps;
}

namespace {

// One block of [outer, axis] along the last axis.
void ResampleLine(const double* input, double* output, std::int64_t length,
                  const AxisTaps& taps) {
  const auto width = static_cast<std::size_t>(taps.width);
  const std::int64_t* index = taps.indices.data();
  const double* weight = taps.weights.data();
  for (std::int64_t i = 0; i < length; ++i, index += width, weight += width) {
    if (width == 1) {
      output[i] = input[*index];
      continue;
    }
    double sum = weight[0] * input[index[0]];
    for (std::size_t k = 1; k < width; ++k) sum += weight[k] * input[index[k]];
    output[i] = sum;
  }
}

// One block of [outer, axis, inner], whole rows of neighbours at a time.
void ResampleBlock(const double* input, double* output, std::int64_t length,
                   std::int64_t inner, const AxisTaps& taps) {
  if (inner == 1) {
    ResampleLine(input, output, length, taps);
    return;
  }
  const auto width = static_cast<std::size_t>(taps.width);
  const auto row = static_cast<std::size_t>(inner);
  for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
    double* to = output + (i * row);
    for (std::size_t k = 0; k < width; ++k) {
      const double weight = taps.weights[(i * width) + k];
      const double* from =
          input +
          (static_cast<std::size_t>(taps.indices[(i * width) + k]) * row);
      if (width == 1) {
        std::copy_n(from, row, to);
      } else if (k == 0) {
        for (std::size_t j = 0; j < row; ++j) to[j] = weight * from[j];
      } else {
        for (std::size_t j = 0; j < row; ++j) to[j] += weight * from[j];
      }
    }
  }
}

}  // namespace

at::Tensor ResampleAxis(const at::Tensor& input, std::int64_t axis,
                        const AxisTaps& taps) {
  const auto length =
      static_cast<std::int64_t>(taps.indices.size()) / taps.width;
  if (input.scalar_type() != at::kDouble) {
    if (taps.width == 1)
      return input.index_select(axis, at::tensor(taps.indices));
    return ResampleAxis(input.to(at::kDouble), axis, taps)
        .to(input.scalar_type());
  }
  const at::Tensor dense = input.contiguous();
  std::vector<std::int64_t> shape = dense.sizes().vec();
  const std::int64_t old_length = shape[static_cast<std::size_t>(axis)];
  shape[static_cast<std::size_t>(axis)] = length;
  at::Tensor output = at::empty(shape, dense.options());
  const std::int64_t inner =
      std::accumulate(shape.begin() + axis + 1, shape.end(), std::int64_t{1},
                      std::multiplies<>());
  const std::int64_t outer =
      std::accumulate(shape.begin(), shape.begin() + axis, std::int64_t{1},
                      std::multiplies<>());
  const double* from = dense.const_data_ptr<double>();
  double* to = output.mutable_data_ptr<double>();
  at::parallel_for(0, outer, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block)
      ResampleBlock(from + (block * old_length * inner),
                    to + (block * length * inner), length, inner, taps);
  });
  return output;
}

}  // namespace parity
