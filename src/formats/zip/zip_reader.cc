#include "formats/zip/zip_reader.h"

#include <zconf.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <format>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/status_macros.h"
#include "formats/text/utf8.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kZip64EndSignature = 0x06064b50;
constexpr std::uint32_t kZip64LocatorSignature = 0x07064b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kZip64LocatorSize = 20;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;
// Values that mean "see the zip64 record".
constexpr std::uint16_t kSee64Short = 0xFFFF;
constexpr std::uint32_t kSee64 = 0xFFFFFFFF;
// A deflate stream never expands further (zlib's technical notes).
constexpr std::uint64_t kMaxExpansion = 1032;

std::unexpected<Error> Corrupt(std::string message) {
  return Fail(ErrorCode::kCorrupt, std::move(message));
}

// A fixed-size little-endian record whose length was checked before.
class Record {
 public:
  explicit Record(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  [[nodiscard]] T At(std::size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
};

struct Directory {
  std::uint64_t entry_count = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The end record is followed by nothing but its own comment.
std::optional<std::size_t> FindEndRecord(std::span<const std::byte> archive) {
  if (archive.size() < kEndSize) return std::nullopt;
  const std::size_t last = archive.size() - kEndSize;
  const std::size_t first = last - std::min<std::size_t>(last, 0xFFFF);
  for (std::size_t at = last + 1; at-- > first;) {
    const Record record(archive.subspan(at, kEndSize));
    if (record.At<std::uint32_t>(0) == kEndSignature &&
        record.At<std::uint16_t>(20) == last - at) {
      return at;
    }
  }
  return std::nullopt;
}

Result<Directory> ReadZip64End(std::span<const std::byte> archive,
                               std::size_t end) {
  ByteReader reader(archive.first(end));
  if (end < kZip64LocatorSize) return Corrupt("has no zip64 locator");
  PARITY_RETURN_IF_ERROR(reader.Seek(end - kZip64LocatorSize));
  PARITY_ASSIGN_OR_RETURN(const auto locator_bytes,
                          reader.Take(kZip64LocatorSize));
  const Record locator(locator_bytes);
  if (locator.At<std::uint32_t>(0) != kZip64LocatorSignature)
    return Corrupt("has no zip64 locator");
  PARITY_RETURN_IF_ERROR(reader.Seek(locator.At<std::uint64_t>(8)));
  PARITY_ASSIGN_OR_RETURN(const auto bytes, reader.Take(56));
  const Record record(bytes);
  if (record.At<std::uint32_t>(0) != kZip64EndSignature)
    return Corrupt("has no zip64 end record where its locator says");
  if (record.At<std::uint64_t>(24) != record.At<std::uint64_t>(32))
    return Fail(ErrorCode::kUnsupported, "is one of several disks of a zip");
  return Directory{.entry_count = record.At<std::uint64_t>(32),
                   .offset = record.At<std::uint64_t>(48),
                   .size = record.At<std::uint64_t>(40)};
}

Result<Directory> FindDirectory(std::span<const std::byte> archive) {
  const std::optional<std::size_t> end = FindEndRecord(archive);
  if (!end) {
    return Corrupt(
        "begins like a zip archive but has no zip directory at its end: it is "
        "truncated or damaged");
  }
  const Record record(archive.subspan(*end, kEndSize));
  Directory directory{.entry_count = record.At<std::uint16_t>(10),
                      .offset = record.At<std::uint32_t>(16),
                      .size = record.At<std::uint32_t>(12)};
  if (directory.entry_count == kSee64Short || directory.offset == kSee64 ||
      directory.size == kSee64) {
    PARITY_ASSIGN_OR_RETURN(directory, ReadZip64End(archive, *end));
  } else if (record.At<std::uint16_t>(8) != directory.entry_count) {
    return Fail(ErrorCode::kUnsupported, "is one of several disks of a zip");
  }
  if (directory.offset > *end || directory.size > *end - directory.offset) {
    return Corrupt(std::format(
        "zip directory at {} of {} bytes does not fit before its end record "
        "at {}: the file is truncated or damaged",
        directory.offset, directory.size, *end));
  }
  if (directory.entry_count > directory.size / kCentralSize) {
    return Corrupt(
        std::format("zip directory of {} bytes cannot hold {} entries",
                    directory.size, directory.entry_count));
  }
  return directory;
}

// Replaces saturated 32-bit fields by those of the zip64 extra field.
Status ApplyZip64(std::span<const std::byte> extra, ZipEntry& entry) {
  if (entry.size != kSee64 && entry.stored_size != kSee64 &&
      entry.local_offset != kSee64) {
    return {};
  }
  ByteReader reader(extra);
  while (reader.remaining() > 0) {
    PARITY_ASSIGN_OR_RETURN(const auto id, reader.Read<std::uint16_t>());
    PARITY_ASSIGN_OR_RETURN(const auto size, reader.Read<std::uint16_t>());
    PARITY_ASSIGN_OR_RETURN(const auto field, reader.Take(size));
    if (id != kZip64Extra) continue;
    ByteReader values(field);
    for (std::uint64_t* const value :
         {&entry.size, &entry.stored_size, &entry.local_offset}) {
      if (*value != kSee64) continue;
      PARITY_ASSIGN_OR_RETURN(*value, values.Read<std::uint64_t>());
    }
    return {};
  }
  return Corrupt("zip64 sizes are missing");
}

Result<ZipEntry> ReadCentralEntry(ByteReader& reader) {
  PARITY_ASSIGN_OR_RETURN(const auto bytes, reader.Take(kCentralSize));
  const Record record(bytes);
  if (record.At<std::uint32_t>(0) != kCentralSignature)
    return Corrupt("zip directory is damaged: an entry has no signature");
  PARITY_ASSIGN_OR_RETURN(const auto name,
                          reader.Take(record.At<std::uint16_t>(28)));
  PARITY_ASSIGN_OR_RETURN(const auto extra,
                          reader.Take(record.At<std::uint16_t>(30)));
  PARITY_RETURN_IF_ERROR(reader.Take(record.At<std::uint16_t>(32)));  // comment
  ZipEntry entry{.name = std::string(reinterpret_cast<const char*>(name.data()),
                                     name.size()),
                 .size = record.At<std::uint32_t>(24),
                 .stored_size = record.At<std::uint32_t>(20),
                 .local_offset = record.At<std::uint32_t>(42),
                 .limit = 0,
                 .crc32 = record.At<std::uint32_t>(16),
                 .method = record.At<std::uint16_t>(10),
                 .encrypted = (record.At<std::uint16_t>(8) & 1U) != 0};
  if (!IsUtf8(entry.name))
    return Fail(ErrorCode::kUnsupported,
                "zip directory holds a name that is not UTF-8");
  if (const Status status = ApplyZip64(extra, entry); !status)
    return std::unexpected(Error(status.error()).In(entry.name));
  return entry;
}

// Gives every entry its limit: the next entry's start, or the directory's.
Status SetLimits(std::vector<ZipEntry>& entries, std::uint64_t directory) {
  std::vector<ZipEntry*> order;
  order.reserve(entries.size());
  for (ZipEntry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, &ZipEntry::local_offset);
  std::uint64_t limit = directory;
  for (std::size_t i = order.size(); i-- > 0;) {
    ZipEntry& entry = *order[i];
    const std::uint64_t header = kLocalSize + entry.name.size();
    if (entry.local_offset > limit || header > limit - entry.local_offset ||
        entry.stored_size > limit - entry.local_offset - header) {
      return Corrupt(std::format(
          "{}: {} bytes at offset {} overlap what follows at {}", entry.name,
          entry.stored_size, entry.local_offset, limit));
    }
    entry.limit = limit;
    limit = entry.local_offset;
  }
  return {};
}

Status CheckUniqueNames(std::span<const ZipEntry> entries) {
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const ZipEntry& entry : entries) names.push_back(entry.name);
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin == names.end()) return {};
  return Corrupt(std::format("zip directory lists '{}' twice", *twin));
}

// The entry's bytes as they are in the archive.
Result<std::span<const std::byte>> StoredBytes(
    std::span<const std::byte> archive, const ZipEntry& entry) {
  ByteReader reader(archive.first(static_cast<std::size_t>(entry.limit)));
  PARITY_RETURN_IF_ERROR(reader.Seek(entry.local_offset));
  PARITY_ASSIGN_OR_RETURN(const auto bytes, reader.Take(kLocalSize));
  const Record header(bytes);
  if (header.At<std::uint32_t>(0) != kLocalSignature)
    return Corrupt("its local zip header is damaged");
  PARITY_ASSIGN_OR_RETURN(const auto name,
                          reader.Take(header.At<std::uint16_t>(26)));
  if (!std::ranges::equal(name, std::as_bytes(std::span(entry.name))))
    return Corrupt("its local zip header names another entry");
  PARITY_RETURN_IF_ERROR(reader.Take(header.At<std::uint16_t>(28)));
  return reader.Take(entry.stored_size);
}

// Feeds zlib in pieces, since it counts bytes in 32 bits.
Status Inflate(std::span<const std::byte> from, std::span<std::byte> to) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return Fail(ErrorCode::kIo, "no memory to unpack it");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> cleanup(&stream,
                                                              inflateEnd);
  constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();
  std::byte spare{};  // zlib wants an output pointer for empty entries too
  stream.next_out = reinterpret_cast<Bytef*>(to.empty() ? &spare : to.data());
  std::size_t in_left = from.size();
  std::size_t out_left = to.size();
  stream.next_in =
      const_cast<Bytef*>(reinterpret_cast<const Bytef*>(from.data()));
  int code = Z_OK;
  while (code == Z_OK) {
    stream.avail_in = static_cast<uInt>(std::min(in_left, kPiece));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kPiece));
    const uInt in_before = stream.avail_in;
    const uInt out_before = stream.avail_out;
    code = inflate(&stream, Z_NO_FLUSH);
    in_left -= in_before - stream.avail_in;
    out_left -= out_before - stream.avail_out;
  }
  if (code != Z_STREAM_END || in_left != 0 || out_left != 0) {
    return Corrupt(
        std::format("does not unpack to the {} bytes it declares", to.size()));
  }
  return {};
}

Result<ZipContent> Unpack(std::span<const std::byte> stored,
                          const ZipEntry& entry) {
  if (entry.size / kMaxExpansion > stored.size()) {
    return Corrupt(std::format("{} packed bytes cannot unpack to {}",
                               stored.size(), entry.size));
  }
  const auto size = static_cast<std::size_t>(entry.size);
  const std::shared_ptr<std::byte[]> block(new (std::nothrow) std::byte[size]);
  if (block == nullptr)
    return Fail(ErrorCode::kIo,
                std::format("no memory for {} unpacked bytes", size));
  PARITY_RETURN_IF_ERROR(Inflate(stored, {block.get(), size}));
  return ZipContent{.bytes = {block.get(), size}, .owner = block};
}

Result<ZipContent> ReadEntry(std::span<const std::byte> archive,
                             const std::shared_ptr<const void>& owner,
                             const ZipEntry& entry) {
  if (entry.encrypted) return Fail(ErrorCode::kUnsupported, "is encrypted");
  if (entry.method != kStored && entry.method != kDeflated) {
    return Fail(ErrorCode::kUnsupported,
                std::format("is packed with zip method {}; only stored and "
                            "deflated entries can be read",
                            entry.method));
  }
  PARITY_ASSIGN_OR_RETURN(const auto stored, StoredBytes(archive, entry));
  ZipContent content{.bytes = stored, .owner = owner};
  if (entry.method == kDeflated) {
    PARITY_ASSIGN_OR_RETURN(content, Unpack(stored, entry));
  } else if (entry.size != entry.stored_size) {
    return Corrupt(std::format("is stored in {} bytes but declares {}",
                               entry.stored_size, entry.size));
  }
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(content.bytes.data()),
              content.bytes.size()));
  // zlib returns 0 for a null pointer, as for no bytes.
  if (crc != entry.crc32) {
    return Corrupt(std::format(
        "CRC-32 is {:08x} where the archive says {:08x}: the file is damaged",
        crc, entry.crc32));
  }
  return content;
}

}  // namespace

Result<ZipReader> ZipReader::Open(std::span<const std::byte> archive,
                                  std::shared_ptr<const void> owner) {
  PARITY_ASSIGN_OR_RETURN(const Directory directory, FindDirectory(archive));
  ZipReader zip(archive, std::move(owner));
  ByteReader reader(archive.subspan(static_cast<std::size_t>(directory.offset),
                                    static_cast<std::size_t>(directory.size)),
                    static_cast<std::size_t>(directory.offset));
  zip.entries_.reserve(static_cast<std::size_t>(directory.entry_count));
  for (std::uint64_t i = 0; i < directory.entry_count; ++i) {
    PARITY_ASSIGN_OR_RETURN(ZipEntry entry, ReadCentralEntry(reader));
    zip.entries_.push_back(std::move(entry));
  }
  if (reader.remaining() != 0) {
    return Corrupt(
        std::format("zip directory has {} bytes after its {} entries",
                    reader.remaining(), directory.entry_count));
  }
  PARITY_RETURN_IF_ERROR(SetLimits(zip.entries_, directory.offset));
  PARITY_RETURN_IF_ERROR(CheckUniqueNames(zip.entries_));
  return zip;
}

const ZipEntry* ZipReader::Find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &ZipEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

Result<ZipContent> ZipReader::Read(const ZipEntry& entry) const {
  Result<ZipContent> content = ReadEntry(archive_, owner_, entry);
  if (!content)
    return std::unexpected(std::move(content).error().In(entry.name));
  return content;
}

}  // namespace parity
