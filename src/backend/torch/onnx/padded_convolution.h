// Convolutions over any window, in any floating type.
#ifndef PARITY_BACKEND_TORCH_ONNX_PADDED_CONVOLUTION_H_
#define PARITY_BACKEND_TORCH_ONNX_PADDED_CONVOLUTION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/spatial_window.h"

namespace parity {

// The kernel's size from the weights [M, C/group, k1, …], which the attribute
// kernel_shape must not contradict.
[[nodiscard]] std::vector<std::int64_t> KernelShape(
    const OperatorContext& context, const at::Tensor& weights);

// `bias` may be undefined.
[[nodiscard]] at::Tensor PaddedConvolution(const at::Tensor& input,
                                           const at::Tensor& weights,
                                           const at::Tensor& bias,
                                           const SpatialWindow& window,
                                           std::int64_t groups);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_PADDED_CONVOLUTION_H_
