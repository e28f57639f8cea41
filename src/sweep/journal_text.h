// What a journal of a sweep says: JSON lines, the first of them about the
// sweep, the others a row each. Spec: docs/formats/sweep_journal.md
#ifndef PARITY_SWEEP_JOURNAL_TEXT_H_
#define PARITY_SWEEP_JOURNAL_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

struct JournalHeader {
  std::string plan;  // SweepResult::plan
  std::string title;
  std::size_t row_count = 0;  // of the whole sweep
  Shard shard;
  std::vector<std::string> notes;
};

struct JournalContents {
  JournalHeader header;
  std::vector<SweepRow> rows;  // in the order they were finished
  // What was passed over: "a.jsonl: its last line is incomplete, …".
  std::vector<std::string> notes;
  // Bytes before the last line, where that is incomplete; else all.
  std::size_t whole_bytes = 0;
};

// With this version as the tool's, and a line end.
[[nodiscard]] std::string EncodeJournalHeader(const JournalHeader& header);

// The start of a header's line, as a kill in the middle of its writing leaves
// it; the empty text included.
[[nodiscard]] bool IsTornHeader(std::string_view text);

// `name` is the file's, for notes and errors. Errors: kCorrupt for what is no
// journal and for a damaged line before the last, naming it; kUnsupported for
// another version of the format.
[[nodiscard]] Result<JournalContents> ParseJournal(std::string_view text,
                                                   std::string_view name);

// "2/3".
[[nodiscard]] std::string ToString(const Shard& shard);

}  // namespace parity

#endif  // PARITY_SWEEP_JOURNAL_TEXT_H_
