// Where this tool keeps what it can make again.
#ifndef PARITY_BASE_CACHE_FOLDER_H_
#define PARITY_BASE_CACHE_FOLDER_H_

#include <filesystem>

#include "parity/error.h"

namespace parity {

// $XDG_CACHE_HOME/onnx-parity, or ~/.cache/onnx-parity where that is not set or
// is relative. Not made yet. Errors: kNotFound when HOME is not set either.
[[nodiscard]] Result<std::filesystem::path> DefaultCacheFolder();

}  // namespace parity

#endif  // PARITY_BASE_CACHE_FOLDER_H_
