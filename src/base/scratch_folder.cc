#include "base/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "onnx-parity-scratch-";

std::unexpected<Error> CannotMake(const fs::path& path,
                                  std::string_view reason) {
  return Fail(ErrorCode::kIo, std::format("cannot make the folder {}: {}",
                                          path.string(), reason));
}

// The locked folder; not valid when it is gone or someone else holds it.
UniqueFd Lock(const fs::path& path) {
  UniqueFd descriptor(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (descriptor.valid() && ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0)
    descriptor.reset();
  return descriptor;
}

bool IsMine(int descriptor) {
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && status.st_uid == ::geteuid();
}

// What killed processes have left. A folder between its making and its locking
// could be taken for one, so one that is younger than a minute is let be.
void RemoveAbandoned(const fs::path& parent) {
  std::error_code ignored;
  std::vector<fs::path> abandoned;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(parent, ignored)) {
    if (entry.path().filename().string().starts_with(kPrefix))
      abandoned.push_back(entry.path());
  }
  for (const fs::path& path : abandoned) {
    const auto changed = fs::last_write_time(path, ignored);
    if (fs::file_time_type::clock::now() - changed < std::chrono::minutes(1))
      continue;
    const UniqueFd lock = Lock(path);
    if (lock.valid() && IsMine(lock.get())) fs::remove_all(path, ignored);
  }
}

}  // namespace

Result<ScratchFolder> ScratchFolder::Create(const fs::path& parent) {
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) return CannotMake(parent, error.message());
  RemoveAbandoned(parent);
  std::string name = (parent / std::format("{}XXXXXX", kPrefix)).string();
  if (::mkdtemp(name.data()) == nullptr)
    return CannotMake(name, std::strerror(errno));
  return ScratchFolder(name, Lock(name));
}

Result<ScratchFolder> ScratchFolder::CreateTemporary() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return CannotMake(folder, error.message());
  return Create(folder);
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, fs::path())),
      lock_(std::move(other.lock_)) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace parity
