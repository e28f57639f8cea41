// Pooling of regions of images to one size: RoiAlign, MaxRoiPool.
#ifndef PARITY_BACKEND_TORCH_ONNX_REGION_POOLING_H_
#define PARITY_BACKEND_TORCH_ONNX_REGION_POOLING_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

[[nodiscard]] std::vector<at::Tensor> RoiAlign(const OperatorContext& context);
[[nodiscard]] std::vector<at::Tensor> MaxRoiPool(
    const OperatorContext& context);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_REGION_POOLING_H_
