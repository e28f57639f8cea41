#include "backend/ort/ort_provider.h"

#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <format>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ort/ort_library.h"
#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::string_view kSuffix = "ExecutionProvider";

std::string Listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names)
    list += std::format("{}{}", list.empty() ? "" : ", ", name);
  return list;
}

// Providers of the first years have functions of their own.
void AppendDnnl(Ort::SessionOptions& options) {
  const OrtApi& api = Ort::GetApi();
  OrtDnnlProviderOptions* made = nullptr;
  Ort::ThrowOnError(api.CreateDnnlProviderOptions(&made));
  const std::unique_ptr<OrtDnnlProviderOptions,
                        decltype(api.ReleaseDnnlProviderOptions)>
      owned(made, api.ReleaseDnnlProviderOptions);
  options.AppendExecutionProvider_Dnnl(*owned);
}

void AppendCuda(Ort::SessionOptions& options) {
  const OrtApi& api = Ort::GetApi();
  OrtCUDAProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateCUDAProviderOptions(&made));
  const std::unique_ptr<OrtCUDAProviderOptionsV2,
                        decltype(api.ReleaseCUDAProviderOptions)>
      owned(made, api.ReleaseCUDAProviderOptions);
  options.AppendExecutionProvider_CUDA_V2(*owned);
}

void AppendTensorRt(Ort::SessionOptions& options) {
  const OrtApi& api = Ort::GetApi();
  OrtTensorRTProviderOptionsV2* made = nullptr;
  Ort::ThrowOnError(api.CreateTensorRTProviderOptions(&made));
  const std::unique_ptr<OrtTensorRTProviderOptionsV2,
                        decltype(api.ReleaseTensorRTProviderOptions)>
      owned(made, api.ReleaseTensorRTProviderOptions);
  options.AppendExecutionProvider_TensorRT_V2(*owned);
}

// The later ones share one, and go there by another spelling.
void AppendGeneric(Ort::SessionOptions& options, std::string_view provider) {
  std::string name(provider.substr(0, provider.size() - kSuffix.size()));
  if (name == "Xnnpack") name = "XNNPACK";
  if (name == "Azure") name = "AZURE";
  if (name == "WebGpu") name = "WebGPU";
  options.AppendExecutionProvider(name, {});
}

struct OwnFunction {
  std::string_view provider;
  void (*append)(Ort::SessionOptions&);
  std::uint32_t level = 16;  // the release it came with, at the latest
};

constexpr std::array kOwnFunctions = {
    OwnFunction{"DnnlExecutionProvider", AppendDnnl},
    OwnFunction{"CUDAExecutionProvider", AppendCuda},
    OwnFunction{"TensorrtExecutionProvider", AppendTensorRt},
    OwnFunction{"VitisAIExecutionProvider",
                [](Ort::SessionOptions& options) {
                  options.AppendExecutionProvider_VitisAI();
                },
                18},
};

}  // namespace

Status AppendProvider(Ort::SessionOptions& options, std::string_view provider,
                      const OrtLibrary& library) {
  if (provider.empty() || provider == kCpuProvider) return {};
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  if (!std::ranges::contains(available, provider) ||
      !provider.ends_with(kSuffix)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("ONNX Runtime {} has no provider '{}'; it has {}",
                            library.version, provider, Listed(available)));
  }
  const auto own =
      std::ranges::find(kOwnFunctions, provider, &OwnFunction::provider);
  if (own != kOwnFunctions.end()) {
    PARITY_RETURN_IF_ERROR(RequireLevel(
        library, own->level, std::format("way to start {}", provider)));
    own->append(options);
  } else {
    AppendGeneric(options, provider);
  }
  return {};
}

}  // namespace parity
