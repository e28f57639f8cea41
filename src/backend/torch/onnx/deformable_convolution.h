#ifndef PARITY_BACKEND_TORCH_ONNX_DEFORMABLE_CONVOLUTION_H_
#define PARITY_BACKEND_TORCH_ONNX_DEFORMABLE_CONVOLUTION_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

// DeformConv: a two-dimensional convolution whose every tap is moved by an
// offset of its own and read between the pixels.
[[nodiscard]] std::vector<at::Tensor> DeformableConvolution(
    const OperatorContext& context);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_DEFORMABLE_CONVOLUTION_H_
