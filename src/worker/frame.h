// Messages between the tool and a worker: text, and perhaps one descriptor.
// Layout on the socket: docs/worker_protocol.md.
#ifndef PARITY_WORKER_FRAME_H_
#define PARITY_WORKER_FRAME_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

// Longer messages are refused before anything is allocated for them.
inline constexpr std::size_t kMaxFrameText = std::size_t{16} << 20;

struct Frame {
  std::string text;     // one JSON object
  UniqueFd descriptor;  // of a memory file; invalid when there is none
};

// Blocks until the socket can be read (or written): returns an error to give
// up, which ReceiveFrame() and SendFrame() pass on.
enum class Direction { kRead, kWrite };
using FrameWaiter = std::function<Status(Direction)>;

// Waits without limit: for the worker's side.
[[nodiscard]] FrameWaiter WaitForever(int socket);

// Sends `text` and a copy of `descriptor` (none when negative). Errors:
// kInvalidArgument for too long a text, kIo ("the connection was closed" when
// the other side is gone), and those of `wait`.
[[nodiscard]] Status SendFrame(int socket, std::string_view text,
                               int descriptor, const FrameWaiter& wait);

// The next frame; nothing when the other side has closed between frames.
// Errors: kCorrupt when the bytes are no frame or stop within one, kIo, and
// those of `wait`.
[[nodiscard]] Result<std::optional<Frame>> ReceiveFrame(
    int socket, const FrameWaiter& wait);

}  // namespace parity

#endif  // PARITY_WORKER_FRAME_H_
