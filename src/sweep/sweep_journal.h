// The file that a sweep writes its finished rows to, one by one, so that a
// sweep that was stopped in any way goes on where it was.
#ifndef PARITY_SWEEP_SWEEP_JOURNAL_H_
#define PARITY_SWEEP_SWEEP_JOURNAL_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/journal_text.h"

namespace parity {

// Open for this process alone, until destroyed: a second one is refused. Not
// thread-safe.
class SweepJournal {
 public:
  // Makes the file, or takes up the one that is there: what it holds is in
  // rows(). An incomplete last line is cut off. Errors: kIncompatible for a
  // journal of another sweep or shard, which is left as it is; those of
  // ParseJournal(); kIo when the file is in use, cannot be written or is no
  // regular file.
  [[nodiscard]] static Result<SweepJournal> Open(
      const std::filesystem::path& path, const JournalHeader& header);

  // Whether some process has it open, this one included.
  [[nodiscard]] static bool IsInUse(const std::filesystem::path& path);

  // Of the file: those of an earlier run where there was one.
  [[nodiscard]] const JournalHeader& header() const { return contents_.header; }
  // That the file held when it was opened.
  [[nodiscard]] const std::vector<SweepRow>& rows() const {
    return contents_.rows;
  }
  // What the user should know about the file.
  [[nodiscard]] const std::vector<std::string>& notes() const {
    return contents_.notes;
  }
  // On disk when this returns. Errors: kIo, a full disk included; the file is
  // then as it was before.
  [[nodiscard]] Status Append(const SweepRow& row);
  // Leaves nothing but the header. Errors: kIo.
  [[nodiscard]] Status RemoveRows();

 private:
  SweepJournal(std::filesystem::path path, UniqueFd descriptor,
               JournalContents contents)
      : path_(std::move(path)),
        descriptor_(std::move(descriptor)),
        contents_(std::move(contents)) {}
  std::filesystem::path path_;
  UniqueFd descriptor_;
  JournalContents contents_;  // whole_bytes: the length of the file
};

// The journal as it is now, without a lock: its sweep may be running.
[[nodiscard]] Result<JournalContents> ReadSweepJournal(
    const std::filesystem::path& path);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_JOURNAL_H_
