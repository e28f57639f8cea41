// The ONNX Runtime library, loaded while the program runs: one build works with
// every version from 1.16 on, wherever it is.
#ifndef PARITY_BACKEND_ORT_ORT_LIBRARY_H_
#define PARITY_BACKEND_ORT_ORT_LIBRARY_H_

#include <string>

#include "parity/error.h"

struct OrtApi;

namespace parity {

struct OrtLibrary {
  const OrtApi* api = nullptr;  // of this build's version, or an older one
  std::string version{};        // "1.21.0"
};

// Loads the library from `path`, or, when that is empty, the one the dynamic
// linker finds under its usual names. It stays loaded for the life of the
// process. Errors: kNotFound when there is none, kUnsupported when it is older
// than 1.16, kBackend when it is no ONNX Runtime.
[[nodiscard]] Result<OrtLibrary> LoadOrtLibrary(const std::string& path);

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_ORT_LIBRARY_H_
