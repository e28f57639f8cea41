#include "backend/torch/onnx/spatial_window.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <string>
#include <string_view>
#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {
namespace {

std::int64_t CeilingOfQuotient(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

void PlaceSamePadding(WindowAxis& axis, bool upper) {
  axis.output = CeilingOfQuotient(axis.input, axis.stride);
  const std::int64_t total = std::max<std::int64_t>(
      0, ((axis.output - 1) * axis.stride) + axis.Reach() - axis.input);
  axis.pad_begin = upper ? total / 2 : total - (total / 2);
  axis.pad_end = total - axis.pad_begin;
}

void CountWindows(WindowAxis& axis, bool ceiling) {
  const std::int64_t room =
      axis.input + axis.pad_begin + axis.pad_end - axis.Reach();
  if (room < 0) {
    axis.output = 0;
    return;
  }
  axis.output =
      (ceiling ? CeilingOfQuotient(room, axis.stride) : room / axis.stride) + 1;
  if (ceiling && (axis.output - 1) * axis.stride >= axis.input + axis.pad_begin)
    --axis.output;
}

}  // namespace

std::vector<std::int64_t> AxisAttribute(const OperatorContext& context,
                                        std::string_view name,
                                        std::size_t count,
                                        std::int64_t otherwise) {
  std::vector<std::int64_t> values = context.Integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count)
    throw OperatorError(std::format("attribute {} has {} elements, not {}",
                                    name, values.size(), count));
  return values;
}

SpatialWindow ReadSpatialWindow(const OperatorContext& context,
                                const at::Tensor& input,
                                const std::vector<std::int64_t>& kernel) {
  const std::size_t axes = kernel.size();
  if (input.dim() != static_cast<std::int64_t>(axes) + 2)
    throw OperatorError(std::format(
        "a window of {} axes over a tensor of rank {}", axes, input.dim()));
  const std::vector<std::int64_t> strides =
      AxisAttribute(context, "strides", axes, 1);
  const std::vector<std::int64_t> dilations =
      AxisAttribute(context, "dilations", axes, 1);
  const std::vector<std::int64_t> pads =
      AxisAttribute(context, "pads", 2 * axes, 0);
  const std::string auto_pad = context.String("auto_pad", "NOTSET");
  const bool ceiling = context.Integer("ceil_mode", 0) != 0;
  SpatialWindow window;
  for (std::size_t i = 0; i < axes; ++i) {
    WindowAxis axis{.input = input.size(static_cast<std::int64_t>(i) + 2),
                    .kernel = kernel[i],
                    .stride = strides[i],
                    .dilation = dilations[i]};
    if (axis.kernel < 1 || axis.stride < 1 || axis.dilation < 1)
      throw OperatorError("kernel, stride and dilation must be positive");
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      PlaceSamePadding(axis, auto_pad == "SAME_UPPER");
    } else if (auto_pad == "VALID") {
      CountWindows(axis, false);
    } else {
      axis.pad_begin = pads[i];
      axis.pad_end = pads[axes + i];
      CountWindows(axis, ceiling);
    }
    if (axis.output < 1)
      throw OperatorError(std::format(
          "a window of {} elements does not fit into spatial axis {} of {}",
          axis.Reach(), i, axis.input + axis.pad_begin + axis.pad_end));
    window.push_back(axis);
  }
  return window;
}

at::Tensor PadToWindow(const at::Tensor& input, const SpatialWindow& window,
                       const c10::Scalar& value) {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> end;
  for (const WindowAxis& axis : window) {
    begin.push_back(axis.pad_begin);
    end.push_back(axis.Span() - axis.pad_begin - axis.input);
  }
  return PadSpatialAxes(input, begin, end, value);
}

at::Tensor PadSpatialAxes(const at::Tensor& input,
                          const std::vector<std::int64_t>& begin,
                          const std::vector<std::int64_t>& end,
                          const c10::Scalar& value) {
  // The operator names the last axis first.
  std::vector<std::int64_t> pads;
  for (std::size_t i = begin.size(); i-- > 0;) {
    pads.push_back(begin[i]);
    pads.push_back(end[i]);
  }
  if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; }))
    return input;
  return at::constant_pad_nd(input, pads, value);
}

}  // namespace parity
