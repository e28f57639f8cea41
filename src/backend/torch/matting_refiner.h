// The refiner of BackgroundMattingV2 in libtorch: recomputes the result at full
// size where the coarse one is doubtful.
#ifndef PARITY_BACKEND_TORCH_MATTING_REFINER_H_
#define PARITY_BACKEND_TORCH_MATTING_REFINER_H_

#include <ATen/core/Tensor.h>

#include "backend/torch/layers.h"
#include "networks/matting_config.h"

namespace parity {

// The base network's result at the coarse size.
struct CoarseMatte {
  at::Tensor alpha;       // [B,1,h,w] in [0,1]
  at::Tensor foreground;  // [B,3,h,w], the residual to add to src, not clamped
  at::Tensor error;       // [B,1,h,w] in [0,1]
  at::Tensor hidden;      // [B,32,h,w]
};

struct RefinedMatte {
  at::Tensor canvas;  // [B,4,H,W]: alpha and foreground residual, not clamped
  at::Tensor cells;   // [B,1,H/4,W/4]: 1 where a 4×4 patch was recomputed
};

// src, bgr [B,3,H,W], H and W divisible by 4. `coarse.hidden` is released on
// the way.
[[nodiscard]] RefinedMatte RunMattingRefiner(const Layers& layers,
                                             const MattingConfig& config,
                                             const at::Tensor& src,
                                             const at::Tensor& bgr,
                                             CoarseMatte coarse);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_MATTING_REFINER_H_
