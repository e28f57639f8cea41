// libtorch computes a float64 convolution as a product with a matrix that holds
// every window's elements, which for large images is many times the image. So
// the output is computed in bands along the first spatial axis, each from the
// input rows that it sees.
#include "backend/torch/onnx/padded_convolution.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {
namespace {

// Elements of the matrix of windows for one band: 256 MiB of float64. Every
// band costs a few rounds of waiting for threads, so much smaller ones do not
// pay.
constexpr std::int64_t kBandElements = std::int64_t{1} << 25;

at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weights,
                    const at::Tensor& bias, const SpatialWindow& window,
                    std::int64_t groups) {
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;
  for (const WindowAxis& axis : window) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
  }
  const std::vector<std::int64_t> zeros(window.size(), 0);
  return at::convolution(
      input, weights, bias.defined() ? std::optional(bias) : std::nullopt,
      strides, zeros, dilations, /*transposed=*/false, zeros, groups);
}

// Every channel by itself. libtorch would multiply one small matrix for each of
// them, and wait for its threads as often; here all channels take one tap of
// the window after the other.
at::Tensor ConvolveByTaps(const at::Tensor& padded, const at::Tensor& weights,
                          const at::Tensor& bias, const SpatialWindow& window) {
  const std::int64_t channels = weights.size(0);
  const at::Tensor input =
      channels == padded.size(1)
          ? padded
          : padded.repeat_interleave(channels / padded.size(1), 1);
  std::vector<std::int64_t> shape = {input.size(0), channels};
  std::vector<std::int64_t> per_channel(window.size() + 1, 1);
  per_channel.front() = channels;
  for (const WindowAxis& axis : window) shape.push_back(axis.output);
  at::Tensor output = at::zeros(shape, input.options());
  if (bias.defined()) output.add_(bias.reshape(per_channel));
  const at::Tensor taps = weights.flatten(1);
  for (std::int64_t tap = 0; tap < taps.size(1); ++tap) {
    at::Tensor seen = input;
    std::int64_t rest = tap;
    for (std::size_t i = window.size(); i-- > 0;) {
      const WindowAxis& axis = window[i];
      const std::int64_t start = rest % axis.kernel * axis.dilation;
      rest /= axis.kernel;
      seen = seen.slice(static_cast<std::int64_t>(i) + 2, start,
                        start + ((axis.output - 1) * axis.stride) + 1,
                        axis.stride);
    }
    output.addcmul_(seen, taps.select(1, tap).reshape(per_channel));
  }
  return output;
}

// How many windows along the first spatial axis fit a band.
std::int64_t BandLength(const at::Tensor& input, const SpatialWindow& window) {
  std::int64_t elements = input.size(0) * input.size(1);
  for (const WindowAxis& axis : window) elements *= axis.kernel;
  for (std::size_t i = 1; i < window.size(); ++i) elements *= window[i].output;
  return std::max<std::int64_t>(
      1, kBandElements / std::max<std::int64_t>(1, elements));
}

}  // namespace

std::vector<std::int64_t> KernelShape(const OperatorContext& context,
                                      const at::Tensor& weights) {
  if (weights.dim() < 3 || weights.dim() > 5)
    throw OperatorError(std::format(
        "convolutions of 1 to 3 spatial axes are supported, not weights of "
        "rank {}",
        weights.dim()));
  const std::vector<std::int64_t> shape = weights.sizes().slice(2).vec();
  const std::vector<std::int64_t> declared = context.Integers("kernel_shape");
  if (!declared.empty() && declared != shape)
    throw OperatorError("kernel_shape is not the shape of the weights");
  return shape;
}

at::Tensor PaddedConvolution(const at::Tensor& input, const at::Tensor& weights,
                             const at::Tensor& bias,
                             const SpatialWindow& window, std::int64_t groups) {
  const at::Tensor padded = PadToWindow(input, window, 0);
  // Only in float64: for other types libtorch has kernels of its own.
  if (input.scalar_type() == c10::ScalarType::Double && groups > 1 &&
      groups == input.size(1) && weights.size(1) == 1 &&
      weights.size(0) % groups == 0)
    return ConvolveByTaps(padded, weights, bias, window);
  const std::int64_t rows = window.front().output;
  const std::int64_t band = BandLength(padded, window);
  if (band >= rows) return Convolve(padded, weights, bias, window, groups);
  std::vector<std::int64_t> shape = {input.size(0), weights.size(0)};
  for (const WindowAxis& axis : window) shape.push_back(axis.output);
  at::Tensor output = at::empty(shape, input.options());
  for (std::int64_t first = 0; first < rows; first += band) {
    WindowAxis part = window.front();
    part.output = std::min(band, rows - first);
    const at::Tensor seen = padded.narrow(2, first * part.stride, part.Span());
    output.narrow(2, first, part.output)
        .copy_(Convolve(seen, weights, bias, window, groups));
  }
  return output;
}

}  // namespace parity
