// QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear; and the products of
// quantized numbers.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/where.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <vector>

#include "backend/torch/onnx/integer_products.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

// Scales and zero points of a whole tensor, of each slice along the axis, or of
// each block of slices, in a shape that broadcasts to the tensor's.
at::Tensor Spread(const OperatorContext& context, const at::Tensor& values,
                  const at::Tensor& input) {
  const at::Tensor wide = values.to(at::kDouble);
  const std::int64_t block = context.Integer("block_size", 0);
  if (block == 0 && wide.numel() == 1) return wide.reshape({});
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 1), input.dim());
  if (block > 0) {
    const at::Tensor repeated = wide.repeat_interleave(block, axis);
    if (repeated.dim() != input.dim() || repeated.size(axis) < input.size(axis))
      throw OperatorError("there are fewer blocks than elements");
    return repeated.narrow(axis, 0, input.size(axis));
  }
  if (wide.dim() != 1 || wide.size(0) != input.size(axis))
    throw OperatorError(std::format("{} scales or zero points for {} slices",
                                    wide.numel(), input.size(axis)));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[static_cast<std::size_t>(axis)] = -1;
  return wide.reshape(shape);
}

c10::ScalarType QuantizedType(const OperatorContext& context) {
  if (context.HasInput(2)) return context.Input(2).scalar_type();
  const std::int64_t declared = context.Integer("output_dtype", 0);
  return declared == 0 ? at::kByte : context.HeldType(declared);
}

std::vector<at::Tensor> QuantizeLinear(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor zero_point = context.HasInput(2)
                                    ? Spread(context, context.Input(2), input)
                                    : at::Tensor();
  return {Quantized(
      input.to(at::kDouble) / Spread(context, context.Input(1), input),
      zero_point, QuantizedType(context))};
}

std::vector<at::Tensor> DequantizeLinear(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  at::Tensor value = input.to(at::kDouble);
  if (context.HasInput(2))
    value = value - Spread(context, context.Input(2), input);
  return {(value * Spread(context, context.Input(1), input))
              .to(context.Input(1).scalar_type())};
}

// To uint8, with a range that always holds zero.
std::vector<at::Tensor> DynamicQuantizeLinear(const OperatorContext& context) {
  constexpr double kSteps = 255;
  const at::Tensor& input = context.Input(0);
  const at::Tensor wide = input.to(at::kDouble);
  const at::Tensor low = wide.min().clamp_max(0);
  const at::Tensor high = wide.max().clamp_min(0);
  const at::Tensor range = (high - low) / kSteps;
  // Nothing but zeros: any scale does, and none divides by zero.
  const at::Tensor scale = at::where(range == 0, range + 1, range);
  const at::Tensor zero_point =
      Quantized((low / scale).neg().clamp(0, kSteps), {}, at::kByte);
  return {Quantized(wide / scale, zero_point, at::kByte),
          scale.to(input.scalar_type()), zero_point};
}

}  // namespace

void AddQuantizationOperators(OperatorTable& table) {
  table["QuantizeLinear"] = QuantizeLinear;
  table["DequantizeLinear"] = DequantizeLinear;
  table["DynamicQuantizeLinear"] = DynamicQuantizeLinear;
  table["MatMulInteger"] = MatMulInteger;
  table["ConvInteger"] = ConvInteger;
  table["QLinearMatMul"] = QLinearMatMul;
  table["QLinearConv"] = QLinearConv;
}

}  // namespace parity
