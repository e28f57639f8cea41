#include "runtimes/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <format>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

Result<StoreLock> StoreLock::Acquire(
    const std::filesystem::path& file,
    const std::function<void(std::string_view)>& progress,
    const std::atomic<bool>* interrupted) {
  const auto refuse = [&file] {
    return Fail(ErrorCode::kIo, std::format("cannot lock {}: {}", file.string(),
                                            std::strerror(errno)));
  };
  UniqueFd descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor.valid()) return refuse();
  bool told = false;
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return refuse();
    if (interrupted != nullptr && *interrupted)
      return Fail(ErrorCode::kInterrupted, "interrupted");
    if (!told && progress)
      progress("waiting for another onnx-parity to finish with the runtimes");
    told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return StoreLock(std::move(descriptor));
}

}  // namespace parity
