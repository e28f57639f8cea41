// Execution providers by their names.
#ifndef PARITY_BACKEND_ORT_ORT_PROVIDER_H_
#define PARITY_BACKEND_ORT_ORT_PROVIDER_H_

#include <string_view>

#include "backend/ort/ort_library.h"
#include "parity/error.h"

namespace Ort {
struct SessionOptions;
}  // namespace Ort

namespace parity {

inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

// Puts `provider` ("DnnlExecutionProvider", …) before the CPU, which computes
// what it leaves. Nothing to do for the CPU itself, or an empty name. Requires
// Ort::InitApi() with the library's. Errors: kInvalidArgument, listing the
// library's providers, when it has no such; kUnsupported when the library is
// too old to start it; throws Ort::Exception when the provider does not start.
[[nodiscard]] Status AppendProvider(Ort::SessionOptions& options,
                                    std::string_view provider,
                                    const OrtLibrary& library);

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_ORT_PROVIDER_H_
