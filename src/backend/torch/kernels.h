// Which kernels compute the reference's convolutions.
#ifndef PARITY_BACKEND_TORCH_KERNELS_H_
#define PARITY_BACKEND_TORCH_KERNELS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/torch/convolution_probe.h"
#include "parity/error.h"

namespace parity {

struct Kernels {
  std::string description;         // "native (OpenBLAS 0.3.29)"
  std::vector<std::string> notes;  // lines for the user
};

// Switches this process to oneDNN or to native kernels. `choice` is "onednn",
// "native" or "auto": oneDNN where `probe`, called with oneDNN switched on,
// finds it right. Errors: kInvalidArgument for any other choice; kUnsupported
// for "onednn" where libtorch was built without. Throws what libtorch throws.
[[nodiscard]] Result<Kernels> ChooseKernels(
    std::string_view choice,
    const std::function<ProbeResult()>& probe = ProbeConvolutions);

// OpenBLAS uses as many threads from now on. Other libraries keep to libtorch's
// number of threads by themselves.
void SetBlasThreads(int threads);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_KERNELS_H_
