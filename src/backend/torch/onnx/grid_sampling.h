#ifndef PARITY_BACKEND_TORCH_ONNX_GRID_SAMPLING_H_
#define PARITY_BACKEND_TORCH_ONNX_GRID_SAMPLING_H_

#include <ATen/core/Tensor.h>

#include <vector>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

// GridSample: reads an image (of any number of spatial axes) at the places that
// a grid names, each in -1…1 from one edge to the other.
[[nodiscard]] std::vector<at::Tensor> GridSample(
    const OperatorContext& context);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_GRID_SAMPLING_H_
