// Errors as values. Everything below main() returns Result<T>; exceptions of
// other libraries stop at the module that calls them.
#ifndef PARITY_ERROR_H_
#define PARITY_ERROR_H_

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace parity {

enum class ErrorCode : std::uint8_t {
  kNotFound,         // a named file, tensor or node does not exist
  kCorrupt,          // bytes violate the format's specification
  kUnsupported,      // valid input that this version does not handle
  kIncompatible,     // shapes, dtypes or names that do not fit together
  kInvalidArgument,  // an option or argument has no meaning here
  kIo,          // the operating system refused; the message carries its reason
  kBackend,     // libtorch or ONNX Runtime raised; the message carries its text
  kWorkerDied,  // a worker process ended, hung or broke the protocol
  kInterrupted,  // the user asked to stop
};

// One line for the user: what is wrong, in which file or tensor, and what to do
// where that is known.
struct Error {
  ErrorCode code;
  std::string message;

  // Prefixes the file or tensor the error was seen in, on the way up:
  // "model.onnx: graph 'g': …".
  [[nodiscard]] Error In(std::string_view where) && {
    message.insert(0, ": ");
    message.insert(0, where);
    return std::move(*this);
  }
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> Fail(ErrorCode code,
                                                 std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

}  // namespace parity

#endif  // PARITY_ERROR_H_
