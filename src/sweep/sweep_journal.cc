#include "sweep/sweep_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <expected>
#include <filesystem>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/journal_text.h"
#include "sweep/sweep_row_json.h"

namespace parity {
namespace {

std::unexpected<Error> CannotWrite(const std::filesystem::path& path) {
  return Fail(ErrorCode::kIo, std::format("cannot write {}: {}", path.string(),
                                          std::strerror(errno)));
}

// Everything from the start of the file on; also of a pipe.
Result<std::string> ReadAll(int descriptor, const std::filesystem::path& path) {
  std::string text;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t size = ::read(descriptor, block.data(), block.size());
    if (size == 0) return text;
    if (size > 0) {
      text.append(block.data(), static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      return Fail(ErrorCode::kIo,
                  std::format("cannot read {}: {}", path.string(),
                              std::strerror(errno)));
    }
  }
}

// Appends the text and waits for the disk. After an error the file has `length`
// bytes, as before.
Status AppendText(int descriptor, std::string_view text, std::size_t length,
                  const std::filesystem::path& path) {
  const auto undo = [&](const std::unexpected<Error>& error) {
    // Nothing more can be done where this fails, too: the line is incomplete,
    // and the next Open() cuts it off.
    if (::ftruncate(descriptor, static_cast<off_t>(length)) != 0) return error;
    return error;
  };
  // One write() for the whole; a further one only to learn why it was short.
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return undo(CannotWrite(path));
    }
  }
  if (::fdatasync(descriptor) != 0) return undo(CannotWrite(path));
  return {};
}

// Makes the file's name last. File systems that cannot do it for folders do it
// without.
void SyncFolder(const std::filesystem::path& path) {
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const UniqueFd descriptor(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.valid()) ::fsync(descriptor.get());
}

// Nothing when the name came to mean another file in the meantime: the sweep
// that had the lock removed its journal.
Result<std::optional<UniqueFd>> OpenLocked(const std::filesystem::path& path) {
  UniqueFd descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!descriptor.valid()) return CannotWrite(path);
  struct stat opened{};
  if (::fstat(descriptor.get(), &opened) != 0) return CannotWrite(path);
  if (!S_ISREG(opened.st_mode)) {
    return Fail(ErrorCode::kIo,
                std::format("cannot write {}: a journal must be a regular file",
                            path.string()));
  }
  if (::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Fail(ErrorCode::kIo,
                  std::format("{} is in use by another sweep; wait for it, or "
                              "give another --journal",
                              path.string()));
    }
    return Fail(ErrorCode::kIo, std::format("cannot lock {}: {}", path.string(),
                                            std::strerror(errno)));
  }
  struct stat named{};
  if (::stat(path.c_str(), &named) != 0 || named.st_dev != opened.st_dev ||
      named.st_ino != opened.st_ino)
    return std::nullopt;
  return descriptor;
}

Status CheckHeader(const JournalHeader& found, const JournalHeader& wanted,
                   const std::filesystem::path& path) {
  if (found.plan != wanted.plan || found.row_count != wanted.row_count) {
    return Fail(
        ErrorCode::kIncompatible,
        std::format("{} belongs to another sweep (other flags, files or "
                    "runtimes); give another --journal, or delete it",
                    path.string()));
  }
  if (found.shard != wanted.shard) {
    return Fail(ErrorCode::kIncompatible,
                std::format("{} belongs to shard {} of this sweep, not {}; "
                            "give another --journal, or delete it",
                            path.string(), ToString(found.shard),
                            ToString(wanted.shard)));
  }
  return {};
}

}  // namespace

bool SweepJournal::IsInUse(const std::filesystem::path& path) {
  const UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return descriptor.valid() &&
         ::flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

Result<SweepJournal> SweepJournal::Open(const std::filesystem::path& path,
                                        const JournalHeader& header) {
  std::optional<UniqueFd> descriptor;
  while (!descriptor) {
    PARITY_ASSIGN_OR_RETURN(descriptor, OpenLocked(path));
  }
  PARITY_ASSIGN_OR_RETURN(const std::string text,
                          ReadAll(descriptor->get(), path));
  JournalContents contents;
  if (IsTornHeader(text)) {
    if (::ftruncate(descriptor->get(), 0) != 0) return CannotWrite(path);
    const std::string line = EncodeJournalHeader(header);
    PARITY_RETURN_IF_ERROR(AppendText(descriptor->get(), line, 0, path));
    SyncFolder(path);
    contents.header = header;
    contents.whole_bytes = line.size();
  } else {
    PARITY_ASSIGN_OR_RETURN(contents, ParseJournal(text, path.string()));
    PARITY_RETURN_IF_ERROR(CheckHeader(contents.header, header, path));
    if (contents.whole_bytes < text.size() &&
        ::ftruncate(descriptor->get(),
                    static_cast<off_t>(contents.whole_bytes)) != 0)
      return CannotWrite(path);
  }
  return SweepJournal(path, *std::move(descriptor), std::move(contents));
}

Status SweepJournal::Append(const SweepRow& row) {
  const std::string line = EncodeSweepRow(row) + "\n";
  PARITY_RETURN_IF_ERROR(
      AppendText(descriptor_.get(), line, contents_.whole_bytes, path_));
  contents_.whole_bytes += line.size();
  return {};
}

Status SweepJournal::RemoveRows() {
  const std::string line = EncodeJournalHeader(contents_.header);
  if (::ftruncate(descriptor_.get(), 0) != 0) return CannotWrite(path_);
  PARITY_RETURN_IF_ERROR(AppendText(descriptor_.get(), line, 0, path_));
  contents_.rows.clear();
  contents_.whole_bytes = line.size();
  return {};
}

Result<JournalContents> ReadSweepJournal(const std::filesystem::path& path) {
  const UniqueFd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.valid()) {
    return Fail(
        errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        std::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  }
  PARITY_ASSIGN_OR_RETURN(const std::string text,
                          ReadAll(descriptor.get(), path));
  return ParseJournal(text, path.string());
}

}  // namespace parity
