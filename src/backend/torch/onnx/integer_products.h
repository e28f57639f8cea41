// Products of quantized matrices and convolutions of quantized images.
//
// They are computed in float64: products of 8-bit numbers and their sums are
// exact there.
#ifndef PARITY_BACKEND_TORCH_ONNX_INTEGER_PRODUCTS_H_
#define PARITY_BACKEND_TORCH_ONNX_INTEGER_PRODUCTS_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

[[nodiscard]] std::vector<at::Tensor> MatMulInteger(
    const OperatorContext& context);
[[nodiscard]] std::vector<at::Tensor> ConvInteger(
    const OperatorContext& context);
[[nodiscard]] std::vector<at::Tensor> QLinearMatMul(
    const OperatorContext& context);
[[nodiscard]] std::vector<at::Tensor> QLinearConv(
    const OperatorContext& context);

// round(value) + zero_point, halves to even, cut to the range of `type`; the
// zero point may be undefined.
[[nodiscard]] at::Tensor Quantized(const at::Tensor& value,
                                   const at::Tensor& zero_point,
                                   c10::ScalarType type);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_INTEGER_PRODUCTS_H_
