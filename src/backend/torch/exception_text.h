// What libtorch throws, as one line for the user.
#ifndef PARITY_BACKEND_TORCH_EXCEPTION_TEXT_H_
#define PARITY_BACKEND_TORCH_EXCEPTION_TEXT_H_

#include <exception>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "parity/error.h"

namespace parity {

// The sentence that says what went wrong: without C++ and TorchScript
// backtraces, with the failing line of TorchScript code where there is one. At
// most 600 bytes, no line breaks, never empty.
[[nodiscard]] std::string OneLine(std::string_view what);

// Of a c10::Error without its backtrace, of any other exception its what().
[[nodiscard]] Error BackendError(const std::exception& exception);

// Calls `body`, which returns a Result, and turns what it throws into
// kBackend.
template <class Body>
[[nodiscard]] auto CatchTorch(Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::exception& exception) {
    return std::unexpected(BackendError(exception));
  }
}

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_EXCEPTION_TEXT_H_
