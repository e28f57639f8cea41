// Files and memory files, mapped read-only; new files, written whole or not at
// all.
#ifndef PARITY_BASE_FILE_MAPPING_H_
#define PARITY_BASE_FILE_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity {

enum class MappingAccess : std::uint8_t { kReadOnly, kCopyOnWrite };

// A read-only view of a whole file. Shared by everything that borrows from it;
// unmapped with the last owner.
class FileMapping {
 public:
  // Errors: kNotFound, kIo (directories, devices and pipes included), both
  // naming the path.
  [[nodiscard]] static Result<std::shared_ptr<const FileMapping>> Open(
      const std::filesystem::path& path);
  // Maps an open descriptor, which stays the caller's. `name` is for errors.
  [[nodiscard]] static Result<std::shared_ptr<const FileMapping>>
  FromDescriptor(int descriptor, std::string_view name);
  // Maps a memory file of another process, which stays the caller's. With
  // kCopyOnWrite the bytes may be written: this mapping alone then changes.
  // Errors: kCorrupt when it is not sealed (its owner could cut it short under
  // the mapping, and a read would then kill this process), kIo.
  [[nodiscard]] static Result<std::shared_ptr<const FileMapping>> FromSealed(
      int descriptor, std::string_view name,
      MappingAccess access = MappingAccess::kReadOnly);

  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit FileMapping(std::span<const std::byte> bytes) : bytes_(bytes) {}
  static Result<std::shared_ptr<const FileMapping>> Map(int descriptor,
                                                        std::string_view name,
                                                        MappingAccess access);
  std::span<const std::byte> bytes_;
};

// An owned file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int descriptor) : descriptor_(descriptor) {}
  UniqueFd(UniqueFd&& other) noexcept : descriptor_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool valid() const { return descriptor_ >= 0; }
  int release();
  void reset();

 private:
  int descriptor_ = -1;
};

// A memory file (memfd), for whoever fills it; others map its descriptor. Made
// with a size, its bytes() are there to be written; made empty, it grows with
// Write(), which for large blocks costs half as much: no page of it is cleared
// or faulted in before it is filled.
class MemoryFile {
 public:
  [[nodiscard]] static Result<MemoryFile> Create(std::string_view name,
                                                 std::size_t size = 0);
  MemoryFile(MemoryFile&&) noexcept;
  MemoryFile& operator=(MemoryFile&&) = delete;
  ~MemoryFile();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // Appends to a file made with size 0. Errors: kIo, a lack of memory included.
  [[nodiscard]] Status Write(std::span<const std::byte> bytes);
  [[nodiscard]] Status Write(std::string_view text);
  // Unmaps the file, makes it unchangeable for everyone and gives its
  // descriptor away. Errors: kIo.
  [[nodiscard]] Result<UniqueFd> Seal() &&;

 private:
  MemoryFile(UniqueFd descriptor, std::span<std::byte> bytes)
      : descriptor_(std::move(descriptor)), bytes_(bytes) {}
  UniqueFd descriptor_;
  std::span<std::byte> bytes_;
};

// A file that appears under its name only when complete: written beside it,
// then renamed. The folder must exist; Create() fails early when it cannot be
// written. An abandoned one leaves nothing behind. A path that is a device or a
// pipe is written to as it is.
class AtomicFile {
 public:
  [[nodiscard]] static Result<AtomicFile> Create(
      const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  // Errors: kIo with the system's reason (a full disk included), naming the
  // path.
  [[nodiscard]] Status Write(std::span<const std::byte> bytes);
  [[nodiscard]] Status Write(std::string_view text);
  // Renames into place.
  [[nodiscard]] Status Commit();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  AtomicFile(std::filesystem::path path, std::filesystem::path temporary,
             UniqueFd descriptor)
      : path_(std::move(path)),
        temporary_(std::move(temporary)),
        descriptor_(std::move(descriptor)) {}
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  UniqueFd descriptor_;
};

// Removes the temporary files of every AtomicFile now open. Async-signal-safe:
// for the handler of SIGINT and SIGTERM.
void RemoveTemporaryFiles();

}  // namespace parity

#endif  // PARITY_BASE_FILE_MAPPING_H_
