// BackgroundMattingV2 (Lin et al., CVPR 2021) computed by libtorch's operators:
// the reference an export is held against.
#ifndef PARITY_BACKEND_TORCH_BACKGROUND_MATTING_H_
#define PARITY_BACKEND_TORCH_BACKGROUND_MATTING_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <vector>

#include "backend/torch/state_dict.h"
#include "backend/torch/task_runner.h"
#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

class BackgroundMatting {
 public:
  // `weights` must have passed CheckWeights() for `config`. Parameters and
  // inputs are computed with in `precision`, on `threads` threads.
  BackgroundMatting(const MattingConfig& config, const NamedTensors& weights,
                    c10::ScalarType precision, int threads)
      : config_(config),
        parameters_(weights, precision),
        runner_(threads),
        precision_(precision) {}

  // src, bgr: floating [B,3,H,W] of equal shape; MattingRefine needs H and W
  // divisible by 4. The outputs are those of OutputNames(config), in order.
  // Errors: kIncompatible for shapes and dtypes that do not fit, before
  // anything is computed. Throws what libtorch throws.
  [[nodiscard]] Result<std::vector<at::Tensor>> Forward(
      const at::Tensor& src, const at::Tensor& bgr) const;

 private:
  [[nodiscard]] Status CheckInputs(const at::Tensor& src,
                                   const at::Tensor& bgr) const;
  [[nodiscard]] std::vector<at::Tensor> ForwardBase(
      const at::Tensor& src, const at::Tensor& bgr) const;
  [[nodiscard]] std::vector<at::Tensor> ForwardRefine(
      const at::Tensor& src, const at::Tensor& bgr) const;

  MattingConfig config_;
  StateDict parameters_;
  TaskRunner runner_;
  c10::ScalarType precision_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_BACKGROUND_MATTING_H_
