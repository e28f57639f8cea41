#include "base/measurement_lock.h"

#include <fcntl.h>
#include <sys/file.h>
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
  std::error_code ignored;
  const std::filesystem::path path =
      std::filesystem::temp_directory_path(ignored) /
      std::format("onnx-parity-measurement-{}.lock", ::geteuid());
  UniqueFd descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!descriptor.valid()) return MeasurementLock(std::move(descriptor));
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
