// One holder at a time, among threads and processes.
#ifndef PARITY_CACHE_CACHE_LOCK_H_
#define PARITY_CACHE_CACHE_LOCK_H_

#include <atomic>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

// A lock is a file that its holder has flock()ed. The system releases it when
// the holder ends, however that happens. The holder removes the file while it
// still holds it, so that lock files do not pile up; whoever then gets the lock
// of a file that is no longer there tries again.
class CacheLock {
 public:
  // Waits until the lock is free, looking ten times a second, also at
  // `interrupted` (null: never set). Errors: kInterrupted; kIo, a full disk
  // included.
  [[nodiscard]] static Result<CacheLock> Acquire(
      const std::filesystem::path& path, const std::atomic<bool>* interrupted);
  // Nothing when another holds it. Errors: kIo.
  [[nodiscard]] static Result<std::optional<CacheLock>> TryAcquire(
      const std::filesystem::path& path);

  CacheLock(CacheLock&&) noexcept = default;
  CacheLock& operator=(CacheLock&&) = delete;
  ~CacheLock();

 private:
  CacheLock(std::filesystem::path path, UniqueFd descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  std::filesystem::path path_;
  UniqueFd descriptor_;
};

}  // namespace parity

#endif  // PARITY_CACHE_CACHE_LOCK_H_
