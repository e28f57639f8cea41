#include "backend/ort/ort_library.h"

#include <dlfcn.h>
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

// Before it, names of inputs and outputs had to be copied by deprecated calls.
constexpr std::uint32_t kOldestVersion = 16;

// The official archives' name, then this build's version by the Debian name,
// which has the minor version in it, then the developer's link.
std::vector<std::string> UsualNames() {
  return {"libonnxruntime.so.1",
          std::format("libonnxruntime.so.1.{}", ORT_API_VERSION),
          "libonnxruntime.so"};
}

Result<void*> Open(const std::string& path) {
  // The linker takes a name without a slash for one of its own to search.
  const std::string file =
      path.contains('/') ? path : std::format("./{}", path);
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* const reason = ::dlerror();
  std::error_code ignored;
  const ErrorCode code = std::filesystem::exists(file, ignored)
                             ? ErrorCode::kBackend
                             : ErrorCode::kNotFound;
  return Fail(code, std::format("cannot load the ONNX Runtime library: {}",
                                reason == nullptr ? path : reason));
}

Result<void*> OpenUsual() {
  std::string tried;
  for (const std::string& name : UsualNames()) {
    void* const library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    const char* const reason = ::dlerror();
    tried += std::format("{}{}", tried.empty() ? "" : "; ",
                         reason == nullptr ? name : reason);
  }
  return Fail(ErrorCode::kNotFound,
              std::format("cannot find the ONNX Runtime library ({}); "
                          "--runtime-library names one",
                          tried));
}

// 21 of "1.21.0".
std::optional<std::uint32_t> MinorVersion(std::string_view version) {
  if (!version.starts_with("1.")) return std::nullopt;
  version.remove_prefix(2);
  std::uint32_t minor = 0;
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), minor);
  if (error != std::errc()) return std::nullopt;
  return minor;
}

}  // namespace

Result<OrtLibrary> LoadOrtLibrary(const std::string& path) {
  PARITY_ASSIGN_OR_RETURN(void* const library,
                          path.empty() ? OpenUsual() : Open(path));
  const auto get_base = reinterpret_cast<const OrtApiBase* (*)() noexcept>(
      ::dlsym(library, "OrtGetApiBase"));
  const OrtApiBase* const base = get_base == nullptr ? nullptr : get_base();
  if (base == nullptr) {
    return Fail(ErrorCode::kBackend,
                std::format("{} is no ONNX Runtime library", path));
  }
  const std::string version = base->GetVersionString();
  const std::optional<std::uint32_t> minor = MinorVersion(version);
  // A version beyond 1.x would still serve the old tables of functions.
  const std::uint32_t newest =
      std::min<std::uint32_t>(minor.value_or(ORT_API_VERSION), ORT_API_VERSION);
  // Asked for from the library's own version: it prints a complaint for each
  // table that it does not have.
  for (std::uint32_t wanted = newest; wanted >= kOldestVersion; --wanted) {
    const OrtApi* const api = base->GetApi(wanted);
    if (api != nullptr)
      return OrtLibrary{.api = api, .version = version, .level = wanted};
  }
  return Fail(ErrorCode::kUnsupported,
              std::format("ONNX Runtime {} is too old: 1.{} or newer is needed",
                          version, kOldestVersion));
}

Status RequireLevel(const OrtLibrary& library, std::uint32_t level,
                    std::string_view feature) {
  if (library.level >= level) return {};
  return Fail(ErrorCode::kUnsupported,
              std::format("ONNX Runtime {} has no {}, 1.{} or newer is needed",
                          library.version, feature, level));
}

}  // namespace parity
