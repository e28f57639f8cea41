#include "backend/torch/convolution.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>

namespace parity {

at::Tensor Convolution(const at::Tensor& input, const at::Tensor& weight,
                       const at::Tensor& bias,
                       const ConvolutionOptions& options) {
  return at::conv2d(
      input, weight, bias.defined() ? std::optional(bias) : std::nullopt,
      {options.stride, options.stride}, {options.padding, options.padding},
      {options.dilation, options.dilation}, options.groups);
}

}  // namespace parity
