// The ONNX Runtime library, loaded while the program runs: one build works with
// every version from 1.16 on, wherever it is.
#ifndef PARITY_BACKEND_ORT_ORT_LIBRARY_H_
#define PARITY_BACKEND_ORT_ORT_LIBRARY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "parity/error.h"

struct OrtApi;

namespace parity {

struct OrtLibrary {
  const OrtApi* api = nullptr;  // of this build's version, or an older one
  std::string version{};        // "1.21.0"
  // The release whose functions `api` has, as the header's "since" counts them:
  // 18 for 1.18. What came later lies beyond the table's end.
  std::uint32_t level = 0;
};

// Loads the library from `path`, or, when that is empty, the one the dynamic
// linker finds under its usual names. It stays loaded for the life of the
// process. Errors: kNotFound when there is none, kUnsupported when it is older
// than 1.16, kBackend when it is no ONNX Runtime.
[[nodiscard]] Result<OrtLibrary> LoadOrtLibrary(const std::string& path);

// Whether the library has what came with release 1.`level`. Errors:
// kUnsupported, naming the feature and the release.
[[nodiscard]] Status RequireLevel(const OrtLibrary& library,
                                  std::uint32_t level,
                                  std::string_view feature);

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_ORT_LIBRARY_H_
