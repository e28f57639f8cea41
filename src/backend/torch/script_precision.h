// A TorchScript module that computes in another precision.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_PRECISION_H_
#define PARITY_BACKEND_TORCH_SCRIPT_PRECISION_H_

#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>

namespace parity {

// Floating parameters, buffers and constants become `type`, and so does every
// floating dtype that is written into the code, as in x.to(torch.float32).
// Dtypes that are computed, or are attributes, stay. Must come before the first
// run.
void ConvertScript(const torch::jit::Module& module, c10::ScalarType type);

// While it lives, tensors made without a dtype are float64 where that is the
// precision; in the narrower ones libtorch's default promotes well enough.
class DefaultPrecision {
 public:
  explicit DefaultPrecision(std::optional<c10::ScalarType> precision);
  ~DefaultPrecision();
  DefaultPrecision(const DefaultPrecision&) = delete;
  DefaultPrecision& operator=(const DefaultPrecision&) = delete;

 private:
  c10::ScalarType before_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_PRECISION_H_
