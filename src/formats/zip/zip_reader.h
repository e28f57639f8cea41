// Reads zip archives: PyTorch checkpoints and .npz files are made of them.
//
// archive := {local header, data}, central directory, [zip64 end], end record
//
// Only the central directory is believed; a local header must name the same
// entry. Entries are stored or deflated (kUnsupported: other methods,
// encryption, several disks). Entries must not overlap, so that what an archive
// unpacks to is bounded by its size (deflate: at most 1032 times).
// Specification: PKWARE APPNOTE 6.3.
#ifndef PARITY_FORMATS_ZIP_ZIP_READER_H_
#define PARITY_FORMATS_ZIP_ZIP_READER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parity/error.h"

namespace parity {

struct ZipEntry {
  std::string name;  // UTF-8
  std::uint64_t size = 0;
  std::uint64_t stored_size = 0;  // in the archive
  std::uint64_t local_offset = 0;
  std::uint64_t limit = 0;  // its data ends here or before
  std::uint32_t crc32 = 0;
  std::uint16_t method = 0;
  bool encrypted = false;
};

// An entry's content and what keeps it alive: the archive, or a block of its
// own.
struct ZipContent {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Thread-safe to read. Borrows the archive's bytes, which `owner` keeps alive.
class ZipReader {
 public:
  // Errors: kCorrupt, kUnsupported.
  [[nodiscard]] static Result<ZipReader> Open(
      std::span<const std::byte> archive, std::shared_ptr<const void> owner);

  // In the order of the central directory; names are unique.
  [[nodiscard]] std::span<const ZipEntry> entries() const { return entries_; }
  // Null when there is none of that name.
  [[nodiscard]] const ZipEntry* Find(std::string_view name) const;

  // The content, its CRC-32 checked. Stored entries are borrowed, deflated ones
  // unpacked. Cost: one pass. Errors: kCorrupt, kUnsupported, kIo (no memory),
  // all naming the entry.
  [[nodiscard]] Result<ZipContent> Read(const ZipEntry& entry) const;

 private:
  ZipReader(std::span<const std::byte> archive,
            std::shared_ptr<const void> owner)
      : archive_(archive), owner_(std::move(owner)) {}

  std::span<const std::byte> archive_;
  std::shared_ptr<const void> owner_;
  std::vector<ZipEntry> entries_;
};

}  // namespace parity

#endif  // PARITY_FORMATS_ZIP_ZIP_READER_H_
