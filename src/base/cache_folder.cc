#include "base/cache_folder.h"

#include <cstdlib>
#include <filesystem>

#include "parity/error.h"

namespace parity {

Result<std::filesystem::path> DefaultCacheFolder() {
  // The XDG base directory specification: relative paths are to be ignored.
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/')
    return std::filesystem::path(cache) / "onnx-parity";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/')
    return std::filesystem::path(home) / ".cache" / "onnx-parity";
  return Fail(ErrorCode::kNotFound,
              "no cache folder: neither XDG_CACHE_HOME nor HOME is set; "
              "--cache names one");
}

}  // namespace parity
