#include "cache/cache_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <expected>
#include <filesystem>
#include <format>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::chrono::milliseconds kPoll(100);

std::unexpected<Error> LockError(const std::filesystem::path& path) {
  return Fail(ErrorCode::kIo, std::format("cannot lock {}: {}", path.string(),
                                          std::strerror(errno)));
}

// Whether the path still names the file that the descriptor has open.
bool IsStillThere(const std::filesystem::path& path, int descriptor) {
  struct stat named{};
  struct stat opened{};
  return ::stat(path.c_str(), &named) == 0 &&
         ::fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

}  // namespace

Result<std::optional<CacheLock>> CacheLock::TryAcquire(
    const std::filesystem::path& path) {
  // Each round somebody else had and released the lock between our two steps.
  while (true) {
    // For writing: NFS makes a record lock of it, which asks for that.
    UniqueFd descriptor(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor.valid()) return LockError(path);
    while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return std::nullopt;
      if (errno != EINTR) return LockError(path);
    }
    if (IsStillThere(path, descriptor.get()))
      return CacheLock(path, std::move(descriptor));
  }
}

Result<CacheLock> CacheLock::Acquire(const std::filesystem::path& path,
                                     const std::atomic<bool>* interrupted) {
  while (true) {
    if (interrupted != nullptr && *interrupted)
      return Fail(ErrorCode::kInterrupted, "interrupted");
    PARITY_ASSIGN_OR_RETURN(std::optional<CacheLock> lock, TryAcquire(path));
    if (lock) return *std::move(lock);
    std::this_thread::sleep_for(kPoll);
  }
}

CacheLock::~CacheLock() {
  if (descriptor_.valid()) ::unlink(path_.c_str());
}

}  // namespace parity
