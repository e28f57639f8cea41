// One writer at a time, among all processes that share the folder.
#ifndef PARITY_RUNTIMES_STORE_LOCK_H_
#define PARITY_RUNTIMES_STORE_LOCK_H_

#include <atomic>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

// Held until destruction, and no longer than the process lives.
class StoreLock {
 public:
  // Waits for whoever holds it, and says so to `progress` (which may be empty).
  // Errors: kIo naming the file, kInterrupted.
  [[nodiscard]] static Result<StoreLock> Acquire(
      const std::filesystem::path& file,
      const std::function<void(std::string_view)>& progress,
      const std::atomic<bool>* interrupted);

 private:
  explicit StoreLock(UniqueFd descriptor)
      : descriptor_(std::move(descriptor)) {}
  UniqueFd descriptor_;
};

}  // namespace parity

#endif  // PARITY_RUNTIMES_STORE_LOCK_H_
