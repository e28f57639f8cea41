#include "backend/torch/onnx/integer_products.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/matmul.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/padded_convolution.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {
namespace {

template <class T>
at::Tensor Saturated(const at::Tensor& value) {
  return value.clamp(static_cast<double>(std::numeric_limits<T>::lowest()),
                     static_cast<double>(std::numeric_limits<T>::max()));
}

at::Tensor ToInt32(const at::Tensor& value) {
  return value.to(at::kLong).to(at::kInt);
}

// One number for each row (of a matrix on the left) or column (on the right).
at::Tensor AlongMatrix(const at::Tensor& values, bool rows) {
  at::Tensor wide = values.to(at::kDouble);
  if (wide.numel() == 1) return wide.reshape({});
  if (wide.dim() == 1) return wide.unsqueeze(rows ? 1 : 0);
  return wide;
}

// One number, or one for each output channel of a convolution's weights.
at::Tensor AlongWeights(const at::Tensor& values, std::int64_t rank) {
  const at::Tensor wide = values.to(at::kDouble);
  if (wide.numel() == 1) return wide.reshape({});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rank), 1);
  shape.front() = -1;
  return wide.reshape(shape);
}

// The same along the channels of its output.
at::Tensor AlongChannels(const at::Tensor& values, std::int64_t rank) {
  const at::Tensor along = AlongWeights(values, rank);
  return along.dim() == 0 ? along : along.transpose(0, 1);
}

at::Tensor WithoutZeroPoint(const at::Tensor& value,
                            const at::Tensor& zero_point) {
  const at::Tensor wide = value.to(at::kDouble);
  return zero_point.defined() ? wide - zero_point : wide;
}

at::Tensor MatrixZeroPoint(const OperatorContext& context, std::size_t index,
                           bool rows) {
  return context.HasInput(index) ? AlongMatrix(context.Input(index), rows)
                                 : at::Tensor();
}

// Padding stands for the number zero, so it comes after the zero point.
at::Tensor IntegerConvolution(const OperatorContext& context,
                              const at::Tensor& input,
                              const at::Tensor& input_zero_point,
                              const at::Tensor& weights,
                              const at::Tensor& weights_zero_point) {
  const SpatialWindow window =
      ReadSpatialWindow(context, input, KernelShape(context, weights));
  return PaddedConvolution(
      WithoutZeroPoint(input, input_zero_point.defined()
                                  ? input_zero_point.to(at::kDouble).reshape({})
                                  : at::Tensor()),
      WithoutZeroPoint(weights,
                       weights_zero_point.defined()
                           ? AlongWeights(weights_zero_point, weights.dim())
                           : at::Tensor()),
      at::Tensor(), window, context.Integer("group", 1));
}

}  // namespace

at::Tensor Quantized(const at::Tensor& value, const at::Tensor& zero_point,
                     c10::ScalarType type) {
  at::Tensor rounded = value.to(at::kDouble).round();
  if (zero_point.defined()) rounded = rounded + zero_point.to(at::kDouble);
  switch (type) {
    case at::kByte:
      return Saturated<std::uint8_t>(rounded).to(type);
    case at::kChar:
      return Saturated<std::int8_t>(rounded).to(type);
    case at::kUInt16:
      return Saturated<std::uint16_t>(rounded).to(at::kInt).to(type);
    case at::kShort:
      return Saturated<std::int16_t>(rounded).to(type);
    case at::kInt:
      return Saturated<std::int32_t>(rounded).to(type);
    default:
      throw OperatorError(std::format("quantizing to {} is not supported",
                                      c10::toString(type)));
  }
}

std::vector<at::Tensor> MatMulInteger(const OperatorContext& context) {
  return {ToInt32(at::matmul(
      WithoutZeroPoint(context.Input(0), MatrixZeroPoint(context, 2, true)),
      WithoutZeroPoint(context.Input(1), MatrixZeroPoint(context, 3, false))))};
}

std::vector<at::Tensor> ConvInteger(const OperatorContext& context) {
  return {ToInt32(IntegerConvolution(context, context.Input(0),
                                     context.OptionalInput(2), context.Input(1),
                                     context.OptionalInput(3)))};
}

// Inputs: a, its scale and zero point, b and its, scale and zero point of the
// result.
std::vector<at::Tensor> QLinearMatMul(const OperatorContext& context) {
  const at::Tensor product = at::matmul(
      WithoutZeroPoint(context.Input(0), MatrixZeroPoint(context, 2, true)),
      WithoutZeroPoint(context.Input(3), MatrixZeroPoint(context, 5, false)));
  const at::Tensor scale = AlongMatrix(context.Input(1), true) *
                           AlongMatrix(context.Input(4), false) /
                           AlongMatrix(context.Input(6), true);
  return {Quantized(product * scale, AlongMatrix(context.Input(7), true),
                    context.Input(7).scalar_type())};
}

// The same with an optional bias of int32 in units of both inputs' scales.
std::vector<at::Tensor> QLinearConv(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  at::Tensor sum = IntegerConvolution(context, input, context.Input(2),
                                      context.Input(3), context.Input(5));
  if (context.HasInput(8))
    sum = sum + AlongChannels(context.Input(8), input.dim());
  const at::Tensor scale = context.Input(1).to(at::kDouble).reshape({}) *
                           AlongChannels(context.Input(4), input.dim()) /
                           context.Input(6).to(at::kDouble).reshape({});
  return {Quantized(sum * scale, context.Input(7).reshape({}),
                    context.Input(7).scalar_type())};
}

}  // namespace parity
