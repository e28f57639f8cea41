// MaxPool, AveragePool, LpPool, MaxUnpool and the poolings over whole images.
//
// A window is a box, so pooling over it is pooling along one axis after the
// other, and along an axis over its taps: strided slices of the padded input.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/Scalar.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {
namespace {

// What the tap-th element of every window along `axis` is.
at::Tensor Tap(const at::Tensor& padded, std::int64_t axis,
               const WindowAxis& window, std::int64_t tap) {
  const std::int64_t start = tap * window.dilation;
  return padded.slice(axis, start,
                      start + ((window.output - 1) * window.stride) + 1,
                      window.stride);
}

at::Tensor SumOverWindows(at::Tensor padded, const SpatialWindow& window) {
  for (std::size_t i = window.size(); i-- > 0;) {
    const std::int64_t axis = static_cast<std::int64_t>(i) + 2;
    at::Tensor sum = Tap(padded, axis, window[i], 0).clone();
    for (std::int64_t tap = 1; tap < window[i].kernel; ++tap)
      sum.add_(Tap(padded, axis, window[i], tap));
    padded = sum;
  }
  return padded;
}

c10::Scalar LowestValue(c10::ScalarType type) {
  if (c10::isFloatingType(type))
    return -std::numeric_limits<double>::infinity();
  if (type == at::kByte) return 0;
  if (type == at::kChar) return std::numeric_limits<std::int8_t>::lowest();
  throw OperatorError(
      std::format("MaxPool is not defined for {}", c10::toString(type)));
}

// Position of each element among all of the tensor, which with column-major
// order numbers the elements of each image with its first axis fastest.
at::Tensor ElementNumbers(const at::Tensor& input, bool column_major) {
  const std::int64_t images = input.size(0) * input.size(1);
  const at::TensorOptions longs = input.options().dtype(at::kLong);
  if (!column_major)
    return at::arange(input.numel(), longs).reshape(input.sizes());
  std::vector<std::int64_t> reversed = {images};
  std::vector<std::int64_t> order = {0};
  for (std::int64_t axis = input.dim() - 1; axis >= 2; --axis) {
    reversed.push_back(input.size(axis));
    order.push_back(axis - 1);
  }
  return at::arange(input.numel(), longs)
      .reshape(reversed)
      .permute(order)
      .reshape(input.sizes());
}

std::vector<at::Tensor> MaxPool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const SpatialWindow window =
      ReadSpatialWindow(context, input, context.Integers("kernel_shape"));
  const bool wants_indices = context.WantsOutput(1);
  at::Tensor values =
      PadToWindow(input, window, LowestValue(input.scalar_type()));
  at::Tensor numbers;
  if (wants_indices)
    numbers = PadToWindow(
        ElementNumbers(input, context.Integer("storage_order", 0) != 0), window,
        0);
  // The last axis first: among equal elements the first one in order is taken.
  for (std::size_t i = window.size(); i-- > 0;) {
    const std::int64_t axis = static_cast<std::int64_t>(i) + 2;
    at::Tensor best = Tap(values, axis, window[i], 0);
    at::Tensor best_number =
        wants_indices ? Tap(numbers, axis, window[i], 0) : at::Tensor();
    for (std::int64_t tap = 1; tap < window[i].kernel; ++tap) {
      const at::Tensor other = Tap(values, axis, window[i], tap);
      if (wants_indices)
        best_number = at::where(
            other > best, Tap(numbers, axis, window[i], tap), best_number);
      best = at::maximum(best, other);
    }
    values = best;
    numbers = best_number;
  }
  if (!wants_indices) return {values.contiguous()};
  return {values.contiguous(), numbers.contiguous()};
}

// How many elements each window averages: those of the input and, with
// count_include_pad, of the padding that was asked for, never those that a last
// window reaches beyond it.
at::Tensor CountOverWindows(const at::Tensor& input,
                            const SpatialWindow& window, bool with_padding) {
  at::Tensor count = at::zeros({1, 1}, input.options()).add(1);
  for (std::size_t i = 0; i < window.size(); ++i) {
    const WindowAxis& axis = window[i];
    const std::int64_t low = with_padding ? -axis.pad_begin : 0;
    const std::int64_t high = axis.input + (with_padding ? axis.pad_end : 0);
    const at::Tensor starts =
        at::arange(axis.output, input.options().dtype(at::kLong))
            .mul(axis.stride)
            .sub(axis.pad_begin);
    const at::Tensor taps =
        at::arange(axis.kernel, input.options().dtype(at::kLong))
            .mul(axis.dilation);
    const at::Tensor positions = starts.unsqueeze(1) + taps.unsqueeze(0);
    const at::Tensor counted =
        (positions.ge(low) & positions.lt(high)).sum(1).to(input.scalar_type());
    count = count.unsqueeze(-1) * counted;
  }
  return count;
}

std::vector<at::Tensor> AveragePool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const SpatialWindow window =
      ReadSpatialWindow(context, input, context.Integers("kernel_shape"));
  const at::Tensor sum = SumOverWindows(PadToWindow(input, window, 0), window);
  return {sum / CountOverWindows(input, window,
                                 context.Integer("count_include_pad", 0) != 0)};
}

std::vector<at::Tensor> LpPool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const double p = static_cast<double>(context.Integer("p", 2));
  const SpatialWindow window =
      ReadSpatialWindow(context, input, context.Integers("kernel_shape"));
  return {SumOverWindows(PadToWindow(input.abs().pow(p), window, 0), window)
              .pow(1 / p)};
}

std::vector<std::int64_t> SpatialAxes(const at::Tensor& input) {
  if (input.dim() < 3)
    throw OperatorError(std::format(
        "needs a batch, channels and spatial axes, not rank {}", input.dim()));
  std::vector<std::int64_t> axes(static_cast<std::size_t>(input.dim() - 2));
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

std::vector<at::Tensor> GlobalAveragePool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  return {input.mean(SpatialAxes(input), /*keepdim=*/true)};
}

std::vector<at::Tensor> GlobalMaxPool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  return {input.amax(SpatialAxes(input), /*keepdim=*/true)};
}

std::vector<at::Tensor> GlobalLpPool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const double p = static_cast<double>(context.Integer("p", 2));
  return {
      input.abs().pow(p).sum(SpatialAxes(input), /*keepdim=*/true).pow(1 / p)};
}

// The shape that was pooled, as far as the window tells.
std::vector<std::int64_t> UnpooledShape(const OperatorContext& context,
                                        const at::Tensor& input) {
  const std::vector<std::int64_t> kernel = context.Integers("kernel_shape");
  const std::size_t axes = kernel.size();
  if (input.dim() != static_cast<std::int64_t>(axes) + 2)
    throw OperatorError("kernel_shape needs one number for each spatial axis");
  const std::vector<std::int64_t> strides =
      AxisAttribute(context, "strides", axes, 1);
  const std::vector<std::int64_t> pads =
      AxisAttribute(context, "pads", 2 * axes, 0);
  std::vector<std::int64_t> shape = {input.size(0), input.size(1)};
  for (std::size_t i = 0; i < axes; ++i)
    shape.push_back(
        ((input.size(static_cast<std::int64_t>(i) + 2) - 1) * strides[i]) +
        kernel[i] - pads[i] - pads[axes + i]);
  return shape;
}

std::vector<at::Tensor> MaxUnpool(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor& indices = context.Input(1);
  const std::vector<std::int64_t> shape = UnpooledShape(context, input);
  const std::int64_t elements = std::reduce(
      shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  const at::Tensor unpooled =
      at::zeros({elements}, input.options())
          .scatter(0, indices.reshape({-1}).to(at::kLong), input.reshape({-1}))
          .reshape(shape);
  if (!context.HasInput(2)) return {unpooled};
  // Indices count in the shape above; a larger one adds zeros behind.
  const std::vector<std::int64_t> wanted = context.IntegersInput(2);
  if (wanted.size() != shape.size())
    throw OperatorError("output_shape has another rank than the input");
  at::Tensor output = at::zeros(wanted, input.options());
  at::Tensor corner = output;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (wanted[i] < shape[i])
      throw OperatorError("output_shape is smaller than what was pooled");
    corner = corner.narrow(static_cast<std::int64_t>(i), 0, shape[i]);
  }
  corner.copy_(unpooled);
  return {output};
}

}  // namespace

void AddPoolingOperators(OperatorTable& table) {
  table["MaxPool"] = MaxPool;
  table["AveragePool"] = AveragePool;
  table["LpPool"] = LpPool;
  table["GlobalAveragePool"] = GlobalAveragePool;
  table["GlobalMaxPool"] = GlobalMaxPool;
  table["GlobalLpPool"] = GlobalLpPool;
  table["MaxUnpool"] = MaxUnpool;
}

}  // namespace parity
