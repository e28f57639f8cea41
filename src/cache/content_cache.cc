#include "cache/content_cache.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <format>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "cache/cache_lock.h"
#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kMagic = "PARITYCE";
constexpr std::uint64_t kFormatVersion = 1;
constexpr std::size_t kDigestSize = 64;  // hexadecimal
constexpr std::size_t kHeadSize = 128;
constexpr std::size_t kSizeOffset = 16;
constexpr std::string_view kEntrySuffix = ".entry";
constexpr std::string_view kLockSuffix = ".lock";
constexpr std::string_view kPartialSuffix = ".partial";  // of AtomicFile

// Nobody writes for so long. A process of this number may also live on another
// host: then its file is younger than the shorter time.
constexpr std::chrono::hours kAbandoned(1);
constexpr std::chrono::minutes kAbandonedByTheDead(1);

std::string Reason() { return std::strerror(errno); }

bool IsKey(std::string_view text) {
  return text.size() == kDigestSize && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// Whether a file's name is a key and `suffix`: others are not ours.
bool IsNamed(std::string_view name, std::string_view suffix) {
  return name.size() == kDigestSize + suffix.size() && name.ends_with(suffix) &&
         IsKey(name.substr(0, kDigestSize));
}

// The number of the process that writes "KEY.entry.PID.partial"; nothing for
// other names.
std::optional<pid_t> WriterOf(std::string_view name) {
  if (!name.ends_with(kPartialSuffix)) return std::nullopt;
  name.remove_suffix(kPartialSuffix.size());
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos ||
      !IsNamed(name.substr(0, dot), kEntrySuffix))
    return std::nullopt;
  const std::string_view digits = name.substr(dot + 1);
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), pid);
  if (error != std::errc() || end != digits.data() + digits.size() || pid <= 0)
    return std::nullopt;
  return pid;
}

bool IsAbandoned(const fs::path& path, pid_t writer) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(path, error);
  if (error) return false;
  const auto age = fs::file_time_type::clock::now() - written;
  const bool dead = ::kill(writer, 0) != 0 && errno == ESRCH;
  return age > (dead ? kAbandonedByTheDead : kAbandoned);
}

void RemoveLeftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    const std::optional<pid_t> writer = WriterOf(name);
    if (writer && IsAbandoned(path, *writer)) ::unlink(path.c_str());
    // Who gets the lock of a dead process removes its file on release.
    if (!IsNamed(name, kLockSuffix)) continue;
    const auto lock = CacheLock::TryAcquire(path);
  }
}

std::string DigestOf(std::string_view key,
                     const std::vector<std::span<const std::byte>>& pieces) {
  Sha256 sha;
  sha.Update(key);
  for (const std::span<const std::byte> piece : pieces) sha.Update(piece);
  return sha.Finish();
}

using Head = std::array<std::byte, kHeadSize>;

Head MakeHead(std::uint64_t payload_size, std::string_view digest) {
  Head head{};
  std::byte* out = head.data();
  const auto append = [&out](const void* bytes, std::size_t size) {
    std::memcpy(out, bytes, size);
    out += size;
  };
  append(kMagic.data(), kMagic.size());
  append(&kFormatVersion, sizeof(kFormatVersion));
  append(&payload_size, sizeof(payload_size));
  append(digest.data(), digest.size());
  return head;
}

// Reads until `target` is full or the file ends; how many bytes there were, or
// nothing when the system refused.
std::optional<std::size_t> ReadUpTo(int descriptor,
                                    std::span<std::byte> target) {
  std::size_t done = 0;
  while (done < target.size()) {
    const ssize_t count =
        ::read(descriptor, target.data() + done, target.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

// The payload of an open entry. Errors: kCorrupt, kIo.
Result<CachedPayload> ReadEntry(int descriptor, std::string_view key) {
  struct stat status{};
  Head head{};
  if (::fstat(descriptor, &status) != 0) return Fail(ErrorCode::kIo, Reason());
  const std::optional<std::size_t> head_size = ReadUpTo(descriptor, head);
  if (!head_size) return Fail(ErrorCode::kIo, Reason());
  // Before memory is taken for it.
  std::uint64_t size = 0;
  std::memcpy(&size, head.data() + kSizeOffset, sizeof(size));
  if (*head_size < kHeadSize ||
      size != static_cast<std::uint64_t>(status.st_size) - kHeadSize)
    return Fail(ErrorCode::kCorrupt, "it has another size than it says");
  const auto bytes = std::make_shared_for_overwrite<std::byte[]>(size);
  // Hashed block by block, while the block is in the processor's cache.
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  Sha256 sha;
  sha.Update(key);
  for (std::size_t begin = 0; begin < size; begin += kBlock) {
    const std::span<std::byte> block(
        bytes.get() + begin, std::min<std::size_t>(kBlock, size - begin));
    const std::optional<std::size_t> count = ReadUpTo(descriptor, block);
    if (!count) return Fail(ErrorCode::kIo, Reason());
    if (*count < block.size())
      return Fail(ErrorCode::kCorrupt, "it ends too early");
    sha.Update(block);
  }
  // All of the head at once: there is only one right head for a payload.
  if (head != MakeHead(size, sha.Finish()))
    return Fail(ErrorCode::kCorrupt, "its checksum is wrong");
  return CachedPayload{.owner = bytes, .bytes = {bytes.get(), size}};
}

// An error of AtomicFile without its path: the name of an entry tells nobody
// anything.
std::string ReasonIn(const Error& error) {
  const std::string end_of_path = std::format("{}: ", kEntrySuffix);
  const std::size_t found = error.message.rfind(end_of_path);
  return found == std::string::npos
             ? error.message
             : error.message.substr(found + end_of_path.size());
}

}  // namespace

Result<ContentCache> ContentCache::Open(const fs::path& folder,
                                        std::int64_t max_bytes) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Fail(ErrorCode::kIo,
                std::format("cannot make the cache folder {}: {}",
                            folder.string(), error.message()));
  }
  // Asked rather than tried: a full disk can still be read from.
  if (::faccessat(AT_FDCWD, folder.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) !=
      0) {
    return Fail(ErrorCode::kIo, std::format("cannot use the cache folder {}: "
                                            "{}",
                                            folder.string(), Reason()));
  }
  RemoveLeftovers(folder);
  return ContentCache(folder, max_bytes);
}

fs::path ContentCache::PathOf(std::string_view key) const {
  assert(IsKey(key));
  return folder_ / std::format("{}{}", key, kEntrySuffix);
}

Result<std::optional<CachedPayload>> ContentCache::Get(std::string_view key) {
  const fs::path path = PathOf(key);
  const UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid()) {
    // ESTALE: another host has removed it.
    if (errno == ENOENT || errno == ESTALE) return std::nullopt;
    return Fail(ErrorCode::kIo,
                std::format("cannot open {}: {}", path.string(), Reason()));
  }
  Result<CachedPayload> payload = ReadEntry(descriptor.get(), key);
  if (payload) {
    // The time of last use. Not ours to set in a folder that others lend us.
    (void)::futimens(descriptor.get(), nullptr);
    return *std::move(payload);
  }
  if (payload.error().code == ErrorCode::kIo) {
    return Fail(ErrorCode::kIo, std::format("cannot read {}: {}", path.string(),
                                            payload.error().message));
  }
  Remove(key);
  notes_.push_back(
      std::format("a damaged entry of the cache {} was removed: {}",
                  folder_.string(), payload.error().message));
  return std::nullopt;
}

Status ContentCache::Put(
    std::string_view key,
    const std::vector<std::span<const std::byte>>& pieces) {
  std::uint64_t size = 0;
  for (const std::span<const std::byte> piece : pieces) size += piece.size();
  if (static_cast<std::int64_t>(size + kHeadSize) > max_bytes_) {
    notes_.push_back(std::format(
        "a result of {:.1f} MB was not kept: the cache {} may hold {:.1f} MB",
        static_cast<double>(size) / 1e6, folder_.string(),
        static_cast<double>(max_bytes_) / 1e6));
    return {};
  }
  const fs::path path = PathOf(key);
  // A process has one unfinished file for each name.
  static std::mutex writing;
  const std::lock_guard lock(writing);
  const auto write = [&]() -> Status {
    PARITY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
    PARITY_RETURN_IF_ERROR(file.Write(MakeHead(size, DigestOf(key, pieces))));
    for (const std::span<const std::byte> piece : pieces)
      PARITY_RETURN_IF_ERROR(file.Write(piece));
    return file.Commit();
  };
  if (const Status written = write(); !written)
    return Fail(ErrorCode::kIo, ReasonIn(written.error()));
  Evict(path.filename().string());
  return {};
}

void ContentCache::Remove(std::string_view key) {
  ::unlink(PathOf(key).c_str());
}

Result<CacheLock> ContentCache::Lock(
    std::string_view key, const std::atomic<bool>* interrupted) const {
  return CacheLock::Acquire(folder_ / std::format("{}{}", key, kLockSuffix),
                            interrupted);
}

void ContentCache::Evict(std::string_view newest) const {
  struct Entry {
    fs::path path;
    std::int64_t bytes;
    std::chrono::nanoseconds used;
  };
  std::vector<Entry> entries;
  std::int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end;
       !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    struct stat status{};
    if (!IsNamed(name, kEntrySuffix) || ::stat(path.c_str(), &status) != 0)
      continue;
    total += status.st_size;
    if (name == newest) continue;
    entries.push_back(
        {.path = path,
         .bytes = status.st_size,
         .used = std::chrono::seconds(status.st_mtim.tv_sec) +
                 std::chrono::nanoseconds(status.st_mtim.tv_nsec)});
  }
  if (total <= max_bytes_) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= max_bytes_) return;
    // Somebody else may have been quicker; the space is free either way.
    ::unlink(entry.path.c_str());
    total -= entry.bytes;
  }
}

}  // namespace parity
