#include "backend/torch/layers.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include <cstdint>
#include <string>

#include "backend/torch/convolution.h"
#include "backend/torch/run_trace.h"
#include "networks/matting_layers.h"

namespace parity {

at::Tensor Layers::Conv(const at::Tensor& x, const std::string& name,
                        const ConvolutionOptions& options) const {
  const ModuleScope scope(name);
  return Convolution(x, parameters_[name + ".weight"], {}, options, runner_);
}

at::Tensor Layers::ConvWithBias(const at::Tensor& x, const std::string& name,
                                const ConvolutionOptions& options) const {
  const ModuleScope scope(name);
  return Convolution(x, parameters_[name + ".weight"],
                     parameters_[name + ".bias"], options, runner_);
}

at::Tensor Layers::BatchNorm(at::Tensor x, const std::string& name,
                             Activation activation) const {
  const ModuleScope scope(name);
  // Unused in evaluation mode, but the operator wants a place for them.
  at::Tensor mean = at::empty({0}, x.options());
  at::Tensor inverse_deviation = at::empty({0}, x.options());
  at::native_batch_norm_out(
      x, mean, inverse_deviation, x, parameters_[name + ".weight"],
      parameters_[name + ".bias"], parameters_[name + ".running_mean"],
      parameters_[name + ".running_var"], /*training=*/false, /*momentum=*/0,
      kBatchNormEpsilon);
  const ModuleScope parent(ParentModule(name));
  if (activation == Activation::kRelu) x.relu_();
  if (activation == Activation::kRelu6) x.clamp_(0, 6);
  return x;
}

at::Tensor Layers::ConvBn(const at::Tensor& x, const std::string& conv,
                          const std::string& bn, Activation activation,
                          const ConvolutionOptions& options) const {
  return BatchNorm(Conv(x, conv, options), bn, activation);
}

at::Tensor Resize(const at::Tensor& x, std::int64_t height,
                  std::int64_t width) {
  return at::upsample_bilinear2d(x, {height, width}, /*align_corners=*/false);
}

at::Tensor ResizeLike(const at::Tensor& x, const at::Tensor& like) {
  return Resize(x, like.size(2), like.size(3));
}

}  // namespace parity
