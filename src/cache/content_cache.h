// A folder of results, each found by the hash of what it is a result of.
//
// entry := head of 128 bytes, payload
// head  := magic, version, payload size, SHA-256 of key and payload, zeros
//
// The file's name is the key. Specification: docs/formats/content_cache.md.
#ifndef PARITY_CACHE_CONTENT_CACHE_H_
#define PARITY_CACHE_CONTENT_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/cache_lock.h"
#include "parity/error.h"

namespace parity {

// What was kept, in memory of its own. Not a mapping of the file: a file that
// another host removes or that its disk fails to read would end this process
// when the mapping is touched.
struct CachedPayload {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;  // aligned to 16 bytes
};

// Any number of processes, on several hosts where the file system has flock(),
// may use one folder at the same time. An object is not thread-safe; threads
// use one each. Keys are 64 lower-case hexadecimal digits.
class ContentCache {
 public:
  // Makes the folder where it is not there, and removes what killed processes
  // have left in it. Errors: kIo, naming the folder, when it cannot be made,
  // read or written.
  [[nodiscard]] static Result<ContentCache> Open(
      const std::filesystem::path& folder, std::int64_t max_bytes);

  // Nothing when there is no such entry. A damaged one is none, is removed, and
  // a note says so. The entry counts as used now. Errors: kIo.
  [[nodiscard]] Result<std::optional<CachedPayload>> Get(std::string_view key);

  // Keeps the pieces, one after the other, instead of what is there under the
  // key; then removes entries, those not used for longest first, until all take
  // no more than `max_bytes`. What alone takes more is not kept, and a note
  // says so. Errors: kIo with the system's reason alone.
  [[nodiscard]] Status Put(
      std::string_view key,
      const std::vector<std::span<const std::byte>>& pieces);

  void Remove(std::string_view key);

  // For whoever is about to compute the entry; who comes second waits, and
  // should look again then. Errors: kInterrupted when `interrupted` (may be
  // null) is set meanwhile, kIo.
  [[nodiscard]] Result<CacheLock> Lock(
      std::string_view key, const std::atomic<bool>* interrupted) const;

  // What the user should know, a line each, and forgets it.
  [[nodiscard]] std::vector<std::string> TakeNotes() {
    return std::exchange(notes_, {});
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  ContentCache(std::filesystem::path folder, std::int64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  [[nodiscard]] std::filesystem::path PathOf(std::string_view key) const;
  void Evict(std::string_view newest) const;

  std::filesystem::path folder_;
  std::int64_t max_bytes_;
  std::vector<std::string> notes_;
};

}  // namespace parity

#endif  // PARITY_CACHE_CONTENT_CACHE_H_
