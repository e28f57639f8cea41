// The 2-D convolution of the reference network: libtorch's own, in pieces that
// fit the cache and the memory.
#ifndef PARITY_BACKEND_TORCH_CONVOLUTION_H_
#define PARITY_BACKEND_TORCH_CONVOLUTION_H_

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "backend/torch/task_runner.h"

namespace parity {

struct ConvolutionOptions {
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
};

// [N,C,H,W] * [O,C/groups,k,k] (+ bias [O], may be undefined) → [N,O,H',W'].
// With oneDNN enabled this is one at::conv2d. Without it, libtorch's native
// kernel unfolds the whole input (k² times its size) and computes depthwise
// convolutions channel after channel on one core; here the same at::conv2d is
// called on bands of rows and on ranges of channels, several at a time.
[[nodiscard]] at::Tensor Convolution(const at::Tensor& input,
                                     const at::Tensor& weight,
                                     const at::Tensor& bias,
                                     const ConvolutionOptions& options,
                                     const TaskRunner& runner);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_CONVOLUTION_H_
