// The base network of BackgroundMattingV2 in libtorch: encoder, ASPP, decoder.
#ifndef PARITY_BACKEND_TORCH_MATTING_BASE_H_
#define PARITY_BACKEND_TORCH_MATTING_BASE_H_

#include <ATen/core/Tensor.h>

#include "backend/torch/layers.h"
#include "networks/matting_config.h"

namespace parity {

// src, bgr [B,3,H,W] → [B,37,H,W]: alpha, foreground residual (3), error,
// hidden (32), before any clamp or relu.
[[nodiscard]] at::Tensor RunMattingBase(const Layers& layers, Backbone backbone,
                                        const at::Tensor& src,
                                        const at::Tensor& bgr);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_MATTING_BASE_H_
