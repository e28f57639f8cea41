#include "backend/torch/onnx/deformable_convolution.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/padded_convolution.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {
namespace {

// Values of `image` [C, H·W] at rows and columns that lie on the grid; zero
// outside.
at::Tensor PixelsAt(const at::Tensor& image, std::int64_t height,
                    std::int64_t width, const at::Tensor& row,
                    const at::Tensor& column) {
  const at::Tensor inside =
      row.ge(0) & row.lt(height) & column.ge(0) & column.lt(width);
  const at::Tensor index =
      row.clamp(0, height - 1) * width + column.clamp(0, width - 1);
  const at::Tensor pixels =
      image.index_select(1, index.to(at::kLong).reshape({-1}));
  return pixels.masked_fill(inside.logical_not().reshape({1, -1}), 0);
}

// Bilinear interpolation with zeros around the image: [C, number of points].
at::Tensor SampleImage(const at::Tensor& image, std::int64_t height,
                       std::int64_t width, const at::Tensor& row,
                       const at::Tensor& column) {
  const at::Tensor top = row.floor();
  const at::Tensor left = column.floor();
  const at::Tensor down = row - top;
  const at::Tensor right = column - left;
  const auto part = [&](std::int64_t y, std::int64_t x) {
    const at::Tensor weight =
        (y == 0 ? 1 - down : down) * (x == 0 ? 1 - right : right);
    return PixelsAt(image, height, width, top + y, left + x) *
           weight.reshape({1, -1});
  };
  return part(0, 0) + part(0, 1) + part(1, 0) + part(1, 1);
}

// Where the taps [kernel_h·kernel_w, out_h, out_w] lie without an offset.
at::Tensor TapPositions(const SpatialWindow& window, int axis,
                        const at::Tensor& like) {
  const WindowAxis& along = window[static_cast<std::size_t>(axis)];
  const at::Tensor taps = at::arange(along.kernel, like.options())
                              .mul(along.dilation)
                              .sub(along.pad_begin);
  const at::Tensor starts =
      at::arange(along.output, like.options()).mul(along.stride);
  const at::Tensor positions =
      axis == 0 ? taps.reshape({-1, 1, 1, 1}) + starts.reshape({1, 1, -1, 1})
                : taps.reshape({1, -1, 1, 1}) + starts.reshape({1, 1, 1, -1});
  return positions
      .expand({window[0].kernel, window[1].kernel, window[0].output,
               window[1].output})
      .reshape({window[0].kernel * window[1].kernel, window[0].output,
                window[1].output});
}

// Every window's elements of one image: [C, taps · positions].
at::Tensor Columns(const at::Tensor& image, const at::Tensor& offset,
                   const at::Tensor& mask, const SpatialWindow& window,
                   std::int64_t offset_groups) {
  const std::int64_t taps = window[0].kernel * window[1].kernel;
  const std::int64_t height = image.size(1);
  const std::int64_t width = image.size(2);
  const std::int64_t channels = image.size(0) / offset_groups;
  const at::Tensor rows = TapPositions(window, 0, image);
  const at::Tensor columns = TapPositions(window, 1, image);
  // Offsets come in pairs, vertical then horizontal.
  const at::Tensor moves = offset.reshape(
      {offset_groups, taps, 2, window[0].output, window[1].output});
  at::Tensor result = at::empty({image.size(0), rows.numel()}, image.options());
  for (std::int64_t group = 0; group < offset_groups; ++group) {
    const at::Tensor sampled =
        SampleImage(image.narrow(0, group * channels, channels)
                        .reshape({channels, height * width}),
                    height, width, rows + moves[group].select(1, 0),
                    columns + moves[group].select(1, 1));
    const at::Tensor weight =
        mask.defined() ? mask.reshape({offset_groups, -1})[group].unsqueeze(0)
                       : at::ones({1, 1}, image.options());
    result.narrow(0, group * channels, channels).copy_(sampled * weight);
  }
  return result;
}

}  // namespace

std::vector<at::Tensor> DeformableConvolution(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor& weights = context.Input(1);
  const at::Tensor& offset = context.Input(2);
  const at::Tensor bias = context.OptionalInput(3);
  const at::Tensor mask = context.OptionalInput(4);
  if (input.dim() != 4)
    throw OperatorError(std::format(
        "DeformConv is supported for images, not rank {}", input.dim()));
  const SpatialWindow window =
      ReadSpatialWindow(context, input, KernelShape(context, weights));
  const std::int64_t groups = context.Integer("group", 1);
  const std::int64_t offset_groups = context.Integer("offset_group", 1);
  const std::int64_t outputs = weights.size(0);
  at::Tensor result =
      at::empty({input.size(0), outputs, window[0].output, window[1].output},
                input.options());
  const at::Tensor matrices = weights.reshape({groups, outputs / groups, -1});
  for (std::int64_t n = 0; n < input.size(0); ++n) {
    const at::Tensor columns =
        Columns(input[n], offset[n], mask.defined() ? mask[n] : mask, window,
                offset_groups)
            .reshape({groups, matrices.size(2), -1});
    result[n].copy_(
        at::matmul(matrices, columns)
            .reshape({outputs, window[0].output, window[1].output}));
  }
  if (bias.defined()) result.add_(bias.reshape({1, -1, 1, 1}));
  return {result};
}

}  // namespace parity
