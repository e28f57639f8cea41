// A folder for the files of one run, gone afterwards however the run ends.
#ifndef PARITY_BASE_SCRATCH_FOLDER_H_
#define PARITY_BASE_SCRATCH_FOLDER_H_

#include <filesystem>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

// Removed with everything in it when the object dies. A process that is killed
// leaves its folder behind: the next Create() in the same parent removes it,
// which it knows from a lock that ends with its holder.
class ScratchFolder {
 public:
  // Makes `parent` (if need be) and a new folder in it. Errors: kIo with the
  // system's reason, naming the folder.
  [[nodiscard]] static Result<ScratchFolder> Create(
      const std::filesystem::path& parent);
  // In the system's folder for temporary files.
  [[nodiscard]] static Result<ScratchFolder> CreateTemporary();

  ScratchFolder(ScratchFolder&& other) noexcept;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  ScratchFolder(std::filesystem::path path, UniqueFd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  UniqueFd lock_;  // of the folder itself
};

}  // namespace parity

#endif  // PARITY_BASE_SCRATCH_FOLDER_H_
