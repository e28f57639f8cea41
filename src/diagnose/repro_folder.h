// A folder that appears under its name only when complete: filled beside it,
// then renamed. An abandoned one leaves nothing behind.
#ifndef PARITY_DIAGNOSE_REPRO_FOLDER_H_
#define PARITY_DIAGNOSE_REPRO_FOLDER_H_

#include <filesystem>
#include <utility>

#include "parity/error.h"

namespace parity {

class ReproFolder {
 public:
  // The folder must not exist, or be empty; the one it is in must exist. Fails
  // early when that cannot be written. Errors: kInvalidArgument, kIo, naming
  // the path.
  [[nodiscard]] static Result<ReproFolder> Create(
      const std::filesystem::path& path);
  ReproFolder(ReproFolder&& other) noexcept
      : path_(std::move(other.path_)),
        partial_(std::exchange(other.partial_, {})) {}
  ReproFolder& operator=(ReproFolder&&) = delete;
  ~ReproFolder();

  // Where to write.
  [[nodiscard]] const std::filesystem::path& partial() const {
    return partial_;
  }
  // Where it will be.
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Renames it into place. Errors: kIo.
  [[nodiscard]] Status Commit();

 private:
  ReproFolder(std::filesystem::path path, std::filesystem::path partial)
      : path_(std::move(path)), partial_(std::move(partial)) {}
  std::filesystem::path path_;
  std::filesystem::path partial_;  // empty once it is in place
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_REPRO_FOLDER_H_
