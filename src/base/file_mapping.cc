#include "base/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "parity/error.h"

namespace parity {
namespace {

std::string Reason() { return std::strerror(errno); }

// Writes at the descriptor's position. `name` is for errors.
Status WriteAll(int descriptor, std::span<const std::byte> bytes,
                std::string_view name) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return Fail(ErrorCode::kIo,
                  std::format("cannot write {}: {}", name, Reason()));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

// What keeps a memory file as it is, whoever else has its descriptor.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

// Paths of unfinished AtomicFiles, in fixed storage so that a signal handler
// may read them.
constexpr std::size_t kMaxOpen = 16;
constexpr std::size_t kMaxPath = 4096;
struct Slot {
  std::atomic<bool> used{false};
  std::array<char, kMaxPath> path{};
};
std::array<Slot, kMaxOpen> open_files;

void Remember(const std::string& path) {
  if (path.size() >= kMaxPath) return;
  for (Slot& slot : open_files) {
    if (slot.used.load()) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.used.store(true);
    return;
  }
}

void Forget(const std::string& path) {
  for (Slot& slot : open_files) {
    if (slot.used.load() && path == slot.path.data()) slot.used.store(false);
  }
}

}  // namespace

Result<std::shared_ptr<const FileMapping>> FileMapping::Open(
    const std::filesystem::path& path) {
  const UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid()) {
    const ErrorCode code = errno == ENOENT || errno == ENOTDIR
                               ? ErrorCode::kNotFound
                               : ErrorCode::kIo;
    return Fail(code,
                std::format("cannot open {}: {}", path.string(), Reason()));
  }
  return FromDescriptor(descriptor.get(), path.string());
}

Result<std::shared_ptr<const FileMapping>> FileMapping::FromDescriptor(
    int descriptor, std::string_view name) {
  return Map(descriptor, name, MappingAccess::kReadOnly);
}

Result<std::shared_ptr<const FileMapping>> FileMapping::FromSealed(
    int descriptor, std::string_view name, MappingAccess access) {
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} came in no sealed memory file", name));
  }
  return Map(descriptor, name, access);
}

Result<std::shared_ptr<const FileMapping>> FileMapping::Map(
    int descriptor, std::string_view name, MappingAccess access) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0)
    return Fail(ErrorCode::kIo,
                std::format("cannot read {}: {}", name, Reason()));
  if (S_ISDIR(status.st_mode))
    return Fail(ErrorCode::kIo,
                std::format("{} is a folder, not a file", name));
  if (!S_ISREG(status.st_mode))
    return Fail(ErrorCode::kIo, std::format("{} is not a regular file", name));
  const auto size = static_cast<std::size_t>(status.st_size);
  std::span<const std::byte> bytes;
  if (size > 0) {
    const int protection = access == MappingAccess::kCopyOnWrite
                               ? PROT_READ | PROT_WRITE
                               : PROT_READ;
    void* const address =
        ::mmap(nullptr, size, protection, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED)
      return Fail(ErrorCode::kIo,
                  std::format("cannot map {}: {}", name, Reason()));
    bytes = {static_cast<const std::byte*>(address), size};
  }
  return std::shared_ptr<const FileMapping>(new FileMapping(bytes));
}

FileMapping::~FileMapping() {
  if (!bytes_.empty())
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    descriptor_ = other.release();
  }
  return *this;
}

int UniqueFd::release() { return std::exchange(descriptor_, -1); }

void UniqueFd::reset() {
  if (descriptor_ >= 0) ::close(release());
}

Result<MemoryFile> MemoryFile::Create(std::string_view name, std::size_t size) {
  UniqueFd descriptor(::memfd_create(std::string(name).c_str(),
                                     MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor.valid())
    return Fail(
        ErrorCode::kIo,
        std::format("cannot make the memory file '{}': {}", name, Reason()));
  if (::ftruncate(descriptor.get(), static_cast<off_t>(size)) != 0) {
    return Fail(ErrorCode::kIo,
                std::format("cannot size the memory file '{}' to {} bytes: {}",
                            name, size, Reason()));
  }
  std::span<std::byte> bytes;
  if (size > 0) {
    void* const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                 MAP_SHARED, descriptor.get(), 0);
    if (address == MAP_FAILED)
      return Fail(
          ErrorCode::kIo,
          std::format("cannot map the memory file '{}': {}", name, Reason()));
    bytes = {static_cast<std::byte*>(address), size};
  }
  return MemoryFile(std::move(descriptor), bytes);
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      bytes_(std::exchange(other.bytes_, {})) {}

MemoryFile::~MemoryFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Status MemoryFile::Write(std::span<const std::byte> bytes) {
  return WriteAll(descriptor_.get(), bytes, "a memory file");
}

Status MemoryFile::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text.data(), text.size())));
}

Result<UniqueFd> MemoryFile::Seal() && {
  // A file that is mapped for writing cannot be sealed against it.
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  bytes_ = {};
  if (::fcntl(descriptor_.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0) {
    return Fail(ErrorCode::kIo,
                std::format("cannot seal a memory file: {}", Reason()));
  }
  return std::move(descriptor_);
}

Result<AtomicFile> AtomicFile::Create(const std::filesystem::path& path) {
  // Asked once: other processes may remove or make the file meanwhile.
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) {
    return Fail(ErrorCode::kIo,
                std::format("cannot write {}: it is a folder", path.string()));
  }
  // A device or pipe (/dev/stdout) is written to; replacing it by a file would
  // be a disaster. A link keeps pointing to the file that is replaced.
  const bool exists = std::filesystem::exists(status);
  const bool in_place = exists && !std::filesystem::is_regular_file(status);
  std::filesystem::path target = path;
  if (exists && !in_place) {
    target = std::filesystem::canonical(path, error);
    if (error) target = path;
  }
  const std::filesystem::path temporary =
      in_place ? std::string()
               : target.string() + std::format(".{}.partial", ::getpid());
  const int flags = in_place ? O_WRONLY | O_CLOEXEC
                             : O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  UniqueFd descriptor(
      ::open(in_place ? path.c_str() : temporary.c_str(), flags, 0666));
  if (!descriptor.valid())
    return Fail(ErrorCode::kIo,
                std::format("cannot write {}: {}", path.string(), Reason()));
  if (!in_place) Remember(temporary.string());
  return AtomicFile(target, temporary, std::move(descriptor));
}

AtomicFile::~AtomicFile() {
  if (!descriptor_.valid() || temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  Forget(temporary_.string());
}

Status AtomicFile::Write(std::span<const std::byte> bytes) {
  return WriteAll(descriptor_.get(), bytes, path_.string());
}

Status AtomicFile::Write(std::string_view text) {
  return Write(std::as_bytes(std::span(text.data(), text.size())));
}

Status AtomicFile::Commit() {
  if (temporary_.empty()) {
    descriptor_.reset();
    return {};
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return Fail(ErrorCode::kIo,
                std::format("cannot write {}: {}", path_.string(), Reason()));
  }
  Forget(temporary_.string());
  descriptor_.reset();
  return {};
}

void RemoveTemporaryFiles() {
  for (const Slot& slot : open_files) {
    if (slot.used.load()) ::unlink(slot.path.data());
  }
}

}  // namespace parity
