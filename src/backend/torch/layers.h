// The layers the reference network is made of, each reading its parameters by
// module path.
#ifndef PARITY_BACKEND_TORCH_LAYERS_H_
#define PARITY_BACKEND_TORCH_LAYERS_H_

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "backend/torch/convolution.h"
#include "backend/torch/state_dict.h"
#include "backend/torch/task_runner.h"

namespace parity {

enum class Activation : std::uint8_t { kNone, kRelu, kRelu6 };

class Layers {
 public:
  // Both must outlive it.
  Layers(const StateDict& parameters, const TaskRunner& runner)
      : parameters_(parameters), runner_(runner) {}

  [[nodiscard]] const TaskRunner& runner() const { return runner_; }

  // nn.Conv2d `name`, with its bias where there is one.
  [[nodiscard]] at::Tensor Conv(const at::Tensor& x, const std::string& name,
                                const ConvolutionOptions& options = {}) const;
  [[nodiscard]] at::Tensor ConvWithBias(
      const at::Tensor& x, const std::string& name,
      const ConvolutionOptions& options = {}) const;
  // nn.BatchNorm2d `name` in evaluation mode, not folded; overwrites `x`.
  at::Tensor BatchNorm(at::Tensor x, const std::string& name,
                       Activation activation) const;
  // Conv without bias, batch normalisation, activation.
  [[nodiscard]] at::Tensor ConvBn(const at::Tensor& x, const std::string& conv,
                                  const std::string& bn, Activation activation,
                                  const ConvolutionOptions& options = {}) const;

 private:
  const StateDict& parameters_;
  const TaskRunner& runner_;
};

// Bilinear, half-pixel centres, no antialiasing, to height × width.
[[nodiscard]] at::Tensor Resize(const at::Tensor& x, std::int64_t height,
                                std::int64_t width);
// To the height and width of `like`.
[[nodiscard]] at::Tensor ResizeLike(const at::Tensor& x,
                                    const at::Tensor& like);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_LAYERS_H_
