// Versions of ONNX Runtime as their packages write them: 1.20.1,
// 1.24.0-dev.20260114.
#ifndef PARITY_RUNTIMES_RUNTIME_VERSION_H_
#define PARITY_RUNTIMES_RUNTIME_VERSION_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity {

struct RuntimeVersion {
  std::array<std::uint32_t, 3> numbers{};
  std::string suffix{};  // "dev.20260114"; empty for a release

  [[nodiscard]] std::string Text() const;
};

// Errors: kInvalidArgument for anything that is not three numbers with an
// optional suffix of letters, digits, dots and hyphens.
[[nodiscard]] Result<RuntimeVersion> ParseRuntimeVersion(std::string_view text);

// By the precedence of semantic versions: what has a suffix comes before its
// release.
[[nodiscard]] bool IsOlder(const RuntimeVersion& a, const RuntimeVersion& b);

// Errors: kUnsupported for a version whose libraries this tool cannot use.
[[nodiscard]] Status CheckUsable(const RuntimeVersion& version);

}  // namespace parity

#endif  // PARITY_RUNTIMES_RUNTIME_VERSION_H_
