#include "base/measurement_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <format>
#include <functional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

Result<MeasurementLock> MeasurementLock::Take(
    const std::atomic<bool>* interrupted,
    const std::function<void()>& waiting) {
  std::error_code missing;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(missing);
  // Never in the folder that happens to be the current one.
  if (missing) return MeasurementLock(UniqueFd());
  const std::filesystem::path path =
      folder / std::format("onnx-parity-measurement-{}.lock", ::geteuid());
  UniqueFd descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status{};
  // A file that another user has put there could be held for ever.
  if (!descriptor.valid() || ::fstat(descriptor.get(), &status) != 0 ||
      status.st_uid != ::geteuid())
    return MeasurementLock(UniqueFd());
  bool told = false;
  while (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (interrupted != nullptr && *interrupted)
      return Fail(ErrorCode::kInterrupted, "interrupted");
    if (!told && waiting) waiting();
    told = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return MeasurementLock(std::move(descriptor));
}

}  // namespace parity
