#include "backend/torch/kernels.h"

#include <ATen/Context.h>
#include <ATen/Version.h>
#include <dlfcn.h>

#include <cmath>
#include <cstddef>
#include <format>
#include <functional>
#include <string>
#include <string_view>

#include "backend/torch/convolution_probe.h"
#include "parity/error.h"

namespace parity {
namespace {

// "Intel(R) MKL-DNN v3.7.2 (Git Hash …)" → "oneDNN 3.7.2".
std::string OneDnnName() {
  const std::string text = at::get_mkldnn_version();
  const std::size_t start = text.find(" v");
  if (start == std::string::npos) return "oneDNN";
  const std::size_t end = text.find_first_not_of("0123456789.", start + 2);
  return "oneDNN " + text.substr(start + 2, end - start - 2);
}

// libtorch does not say which BLAS it was given.
std::string BlasName() {
  if (at::hasMKL()) return "MKL";
  using GetConfig = char* (*)();
  const auto get_config =
      reinterpret_cast<GetConfig>(dlsym(RTLD_DEFAULT, "openblas_get_config"));
  if (get_config == nullptr) return "BLAS";
  // "OpenBLAS 0.3.29 DYNAMIC_ARCH …"
  const std::string_view config = get_config();
  return std::string(config.substr(0, config.find(' ', config.find(' ') + 1)));
}

}  // namespace

void SetBlasThreads(int threads) {
  using SetThreads = void (*)(int);
  const auto set_threads = reinterpret_cast<SetThreads>(
      dlsym(RTLD_DEFAULT, "openblas_set_num_threads"));
  if (set_threads != nullptr) set_threads(threads);
}

Result<Kernels> ChooseKernels(std::string_view choice,
                              const std::function<ProbeResult()>& probe) {
  if (choice != "auto" && choice != "onednn" && choice != "native") {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("reference kernels are auto, onednn or native, "
                            "not '{}'",
                            choice));
  }
  const bool available = at::hasMKLDNN();
  if (!available && choice == "onednn") {
    return Fail(ErrorCode::kUnsupported,
                "this libtorch was built without oneDNN");
  }
  const std::string native = std::format("native ({})", BlasName());
  if (!available || choice == "native") {
    at::globalContext().setUserEnabledMkldnn(false);
    return Kernels{.description = native, .notes = {}};
  }
  const std::string onednn = OneDnnName();
  at::globalContext().setUserEnabledMkldnn(true);
  if (choice == "onednn") return Kernels{.description = onednn, .notes = {}};
  const ProbeResult found = probe();
  if (found.agrees) return Kernels{.description = onednn, .notes = {}};
  at::globalContext().setUserEnabledMkldnn(false);
  const std::string off = std::isfinite(found.max_error)
                              ? std::format("off by {:.2g}", found.max_error)
                              : std::string("not finite");
  return Kernels{
      .description = native,
      .notes = {std::format("{} convolutions are wrong on this machine ({} in "
                            "the probe): the reference uses native kernels "
                            "({})",
                            onednn, off, BlasName())}};
}

}  // namespace parity
