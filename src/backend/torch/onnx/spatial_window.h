// Where the windows of convolutions and poolings lie over the spatial axes.
#ifndef PARITY_BACKEND_TORCH_ONNX_SPATIAL_WINDOW_H_
#define PARITY_BACKEND_TORCH_ONNX_SPATIAL_WINDOW_H_

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

// The windows along one axis.
struct WindowAxis {
  std::int64_t input = 0;  // length of the axis
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_begin = 0;
  std::int64_t pad_end = 0;
  std::int64_t output = 0;  // number of windows

  // Elements from a window's first tap to its last.
  [[nodiscard]] std::int64_t Reach() const {
    return ((kernel - 1) * dilation) + 1;
  }
  // From the first window's first tap to the last window's last.
  [[nodiscard]] std::int64_t Span() const {
    return ((output - 1) * stride) + Reach();
  }
};

// One for each spatial axis of [N, C, D1, …].
using SpatialWindow = std::vector<WindowAxis>;

// The attribute of one number for each axis, or `otherwise` for all of them.
[[nodiscard]] std::vector<std::int64_t> AxisAttribute(
    const OperatorContext& context, std::string_view name, std::size_t count,
    std::int64_t otherwise);

// Window of an operator with the attributes strides, dilations, pads, auto_pad
// and ceil_mode over `input`. Windows that would start behind the data and its
// leading padding are left out with ceil_mode.
[[nodiscard]] SpatialWindow ReadSpatialWindow(
    const OperatorContext& context, const at::Tensor& input,
    const std::vector<std::int64_t>& kernel);

// `input` with padding around it, so long that the windows exactly fill it: a
// last window may reach over the padding, and what no window sees is cut off.
[[nodiscard]] at::Tensor PadToWindow(const at::Tensor& input,
                                     const SpatialWindow& window,
                                     const c10::Scalar& value);

// Padding of the axes behind the first two: positive adds, negative cuts.
[[nodiscard]] at::Tensor PadSpatialAxes(const at::Tensor& input,
                                        const std::vector<std::int64_t>& begin,
                                        const std::vector<std::int64_t>& end,
                                        const c10::Scalar& value);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_SPATIAL_WINDOW_H_
