#include "backend/torch/onnx/region_pooling.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {
namespace {

// A sample along one axis: between which two pixels, and how near the second.
struct Sample {
  bool inside = false;
  std::int64_t low = 0;
  std::int64_t high = 0;
  double rest = 0;
};

// Places up to one pixel outside have the value of the border, beyond that
// zero.
Sample SampleAt(double place, std::int64_t length) {
  if (!(place >= -1 && place <= static_cast<double>(length))) return {};
  place = std::max(place, 0.0);
  const auto low = static_cast<std::int64_t>(place);
  if (low >= length - 1)
    return {.inside = true, .low = length - 1, .high = length - 1};
  return {.inside = true,
          .low = low,
          .high = low + 1,
          .rest = place - static_cast<double>(low)};
}

// The samples of all bins along one axis, `each` for every bin.
struct AxisSamples {
  std::int64_t each = 0;
  std::vector<Sample> samples;
};

AxisSamples PlaceSamples(double start, double extent, std::int64_t bins,
                         std::int64_t ratio, std::int64_t length) {
  const double bin = extent / static_cast<double>(bins);
  AxisSamples result;
  result.each = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin));
  for (std::int64_t i = 0; i < bins; ++i)
    for (std::int64_t k = 0; k < result.each; ++k)
      result.samples.push_back(
          SampleAt(start + (static_cast<double>(i) * bin) +
                       ((static_cast<double>(k) + 0.5) * bin /
                        static_cast<double>(result.each)),
                   length));
  return result;
}

struct Alignment {
  std::int64_t height;
  std::int64_t width;
  std::int64_t ratio;
  double scale;
  bool half_pixel;
  bool maximum;
};

Alignment ReadAlignment(const OperatorContext& context) {
  const std::string mode = context.String("mode", "avg");
  if (mode != "avg" && mode != "max")
    throw OperatorError(std::format("unknown mode {}", mode));
  // Opset 10 has no such attribute and does not shift by half a pixel.
  const std::string coordinates =
      context.opset() < 16
          ? "output_half_pixel"
          : context.String("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    throw OperatorError(
        std::format("unknown coordinate_transformation_mode {}", coordinates));
  return {.height = context.Integer("output_height", 1),
          .width = context.Integer("output_width", 1),
          .ratio = context.Integer("sampling_ratio", 0),
          .scale = context.Float("spatial_scale", 1),
          .half_pixel = coordinates == "half_pixel",
          .maximum = mode == "max"};
}

// The bin's samples mixed: their mean, or the largest of their weighted pixels.
// (So the operator's reference computes "max": not the largest interpolated
// value.)
double PoolBin(const double* image, std::int64_t width,
               std::span<const Sample> rows, std::span<const Sample> columns,
               bool maximum) {
  double sum = 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (const Sample& y : rows) {
    for (const Sample& x : columns) {
      if (!y.inside || !x.inside) {
        largest = std::max(largest, 0.0);
        continue;
      }
      const double* top = image + (y.low * width);
      const double* bottom = image + (y.high * width);
      const double a = (1 - y.rest) * (1 - x.rest) * top[x.low];
      const double b = (1 - y.rest) * x.rest * top[x.high];
      const double c = y.rest * (1 - x.rest) * bottom[x.low];
      const double d = y.rest * x.rest * bottom[x.high];
      sum += a + b + c + d;
      largest = std::max({largest, a, b, c, d});
    }
  }
  const std::size_t count = rows.size() * columns.size();
  if (maximum) return count == 0 ? 0 : largest;
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// One region [x1, y1, x2, y2] of `image` [C, H, W] to [C, height, width].
void AlignRegion(const at::Tensor& image, const double* region,
                 const Alignment& alignment, double* output) {
  const double shift = alignment.half_pixel ? 0.5 : 0;
  const auto extent = [&](double first, double last) {
    const double length = (last - first) * alignment.scale;
    return alignment.half_pixel ? length : std::max(length, 1.0);
  };
  const AxisSamples rows = PlaceSamples(
      (region[1] * alignment.scale) - shift, extent(region[1], region[3]),
      alignment.height, alignment.ratio, image.size(1));
  const AxisSamples columns = PlaceSamples(
      (region[0] * alignment.scale) - shift, extent(region[0], region[2]),
      alignment.width, alignment.ratio, image.size(2));
  const auto row_count =
      static_cast<std::size_t>(std::max<std::int64_t>(0, rows.each));
  const auto column_count =
      static_cast<std::size_t>(std::max<std::int64_t>(0, columns.each));
  const std::span<const Sample> row_samples = rows.samples;
  const std::span<const Sample> column_samples = columns.samples;
  const double* pixels = image.const_data_ptr<double>();
  for (std::int64_t c = 0; c < image.size(0); ++c)
    for (std::size_t i = 0; i < static_cast<std::size_t>(alignment.height); ++i)
      for (std::size_t j = 0; j < static_cast<std::size_t>(alignment.width);
           ++j)
        *output++ =
            PoolBin(pixels + (c * image.stride(0)), image.size(2),
                    row_samples.subspan(i * row_count, row_count),
                    column_samples.subspan(j * column_count, column_count),
                    alignment.maximum);
}

void CheckImage(std::int64_t index, const at::Tensor& input) {
  if (index < 0 || index >= input.size(0))
    throw OperatorError(
        std::format("a region names image {} of {}", index, input.size(0)));
}

// From the first pixel to behind the last one of a bin, within the image.
struct Bin {
  std::int64_t begin;
  std::int64_t end;
};

Bin PlaceBin(std::int64_t number, std::int64_t bins, std::int64_t first,
             std::int64_t last, std::int64_t length) {
  const double size =
      static_cast<double>(std::max<std::int64_t>(1, last - first + 1)) /
      static_cast<double>(bins);
  const auto at = [&](double place) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(place) + first, 0,
                                    length);
  };
  return {.begin = at(std::floor(static_cast<double>(number) * size)),
          .end = at(std::ceil(static_cast<double>(number + 1) * size))};
}

// Zero for a bin outside the image.
at::Tensor LargestIn(const at::Tensor& image, Bin rows, Bin columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end)
    return image.new_zeros({image.size(0)});
  return image.slice(1, rows.begin, rows.end)
      .slice(2, columns.begin, columns.end)
      .amax({1, 2});
}

}  // namespace

std::vector<at::Tensor> RoiAlign(const OperatorContext& context) {
  const at::Tensor input = context.Input(0).to(at::kDouble).contiguous();
  const at::Tensor regions = context.Input(1).to(at::kDouble).contiguous();
  const std::vector<std::int64_t> images = context.IntegersInput(2);
  const Alignment alignment = ReadAlignment(context);
  if (input.dim() != 4 || regions.dim() != 2 || regions.size(1) != 4 ||
      regions.size(0) != static_cast<std::int64_t>(images.size()))
    throw OperatorError(
        "needs images, regions of four numbers, and an image "
        "for each region");
  for (const std::int64_t image : images) CheckImage(image, input);
  const at::Tensor output = at::empty(
      {regions.size(0), input.size(1), alignment.height, alignment.width},
      input.options());
  const double* corners = regions.const_data_ptr<double>();
  double* values = output.mutable_data_ptr<double>();
  const std::int64_t each = input.size(1) * alignment.height * alignment.width;
  at::parallel_for(
      0, regions.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          AlignRegion(input[images[static_cast<std::size_t>(i)]],
                      corners + (4 * i), alignment, values + (i * each));
      });
  return {output.to(context.Input(0).scalar_type())};
}

std::vector<at::Tensor> MaxRoiPool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor regions = context.Input(1).to(at::kDouble).contiguous();
  const std::vector<std::int64_t> size = context.Integers("pooled_shape");
  const double scale = context.Float("spatial_scale", 1);
  if (input.dim() != 4 || regions.dim() != 2 || regions.size(1) != 5 ||
      size.size() != 2)
    throw OperatorError("needs images and regions of five numbers");
  const at::Tensor output = at::empty(
      {regions.size(0), input.size(1), size[0], size[1]}, input.options());
  const double* corners = regions.const_data_ptr<double>();
  for (std::int64_t i = 0; i < regions.size(0); ++i) {
    const double* region = corners + (5 * i);
    const auto number = static_cast<std::int64_t>(region[0]);
    CheckImage(number, input);
    const auto corner = [&](int k) {
      return static_cast<std::int64_t>(std::round(region[k] * scale));
    };
    for (std::int64_t y = 0; y < size[0]; ++y) {
      const Bin rows =
          PlaceBin(y, size[0], corner(2), corner(4), input.size(2));
      for (std::int64_t x = 0; x < size[1]; ++x)
        output[i].select(1, y).select(1, x).copy_(LargestIn(
            input[number], rows,
            PlaceBin(x, size[1], corner(1), corner(3), input.size(3))));
    }
  }
  return {output};
}

}  // namespace parity
