#include "sweep/merge_sweeps.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <format>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/journal_text.h"
#include "sweep/sweep_journal.h"
#include "sweep/sweep_ranking.h"

namespace parity {
namespace {

// A journal's name, and the rows of it that are rows of a later one, too.
struct Source {
  std::string name;
  std::map<std::string, std::vector<std::size_t>> doubled;  // by later journal
};

void AddNote(SweepResult& result, const std::string& note) {
  if (!std::ranges::contains(result.notes, note)) result.notes.push_back(note);
}

Status CheckSameSweep(const SweepResult& merged, const std::string& first,
                      const JournalHeader& header, const std::string& name) {
  if (merged.plan == header.plan && merged.row_count == header.row_count)
    return {};
  return Fail(
      ErrorCode::kIncompatible,
      std::format(
          "{} and {} are journals of different sweeps ({})", first, name,
          merged.title == header.title
              ? "other flags, files or runtimes"
              : std::format("'{}' and '{}'", merged.title, header.title)));
}

// "rows 1, 2, 3, …".
std::string RowList(const std::vector<std::size_t>& rows) {
  constexpr std::size_t kShown = 8;
  std::string text = rows.size() == 1 ? "row" : "rows";
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i)
    text += std::format("{} {}", i == 0 ? "" : ",", rows[i]);
  return rows.size() > kShown ? text + ", …" : text;
}

// Gathers the rows of one journal after another.
class Merger {
 public:
  Status Add(const std::string& name, JournalContents contents) {
    JournalHeader& header = contents.header;
    if (sources_.empty()) {
      merged_.plan = std::move(header.plan);
      merged_.title = std::move(header.title);
      merged_.row_count = header.row_count;
    } else {
      PARITY_RETURN_IF_ERROR(
          CheckSameSweep(merged_, sources_.front().name, header, name));
    }
    for (const std::string& note : header.notes) AddNote(merged_, note);
    for (const std::string& note : contents.notes) AddNote(merged_, note);
    sources_.push_back({.name = name, .doubled = {}});
    for (SweepRow& row : contents.rows)
      PARITY_RETURN_IF_ERROR(AddRow(std::move(row)));
    return {};
  }

  SweepResult Finish() && {
    for (const Source& source : sources_) {
      for (const auto& [later, rows] : source.doubled) {
        AddNote(merged_, std::format("{} of {} {} in {}, too; the first counts",
                                     RowList(rows), source.name,
                                     rows.size() == 1 ? "is" : "are", later));
      }
    }
    RankRows(merged_.rows);
    for (const SweepRow& row : merged_.rows) merged_.total_ms += row.total_ms;
    return std::move(merged_);
  }

 private:
  struct Origin {
    std::size_t source;  // in sources_
    Verdict verdict;
  };

  // Into the journal that was added last.
  Status AddRow(SweepRow row) {
    const std::size_t source = sources_.size() - 1;
    const auto [entry, is_new] = origins_.try_emplace(
        row.index, Origin{.source = source, .verdict = row.verdict});
    if (is_new) {
      merged_.rows.push_back(std::move(row));
      return {};
    }
    Source& first = sources_[entry->second.source];
    if (entry->second.verdict != row.verdict) {
      return Fail(ErrorCode::kIncompatible,
                  std::format("row {} is '{}' in {}, but '{}' in {}", row.index,
                              Name(entry->second.verdict), first.name,
                              Name(row.verdict), sources_[source].name));
    }
    first.doubled[sources_[source].name].push_back(row.index);
    return {};
  }

  SweepResult merged_;
  std::vector<Source> sources_;
  std::map<std::size_t, Origin> origins_;  // by row
};

}  // namespace

Status CheckComplete(const SweepResult& result) {
  if (result.rows.size() >= result.row_count) return {};
  std::set<std::size_t> there;
  for (const SweepRow& row : result.rows) there.insert(row.index);
  std::size_t first = 0;
  while (there.contains(first)) ++first;
  const std::size_t missing = result.row_count - result.rows.size();
  return Fail(
      ErrorCode::kNotFound,
      std::format("{} of {} rows {} in no journal, row {} first", missing,
                  result.row_count, missing == 1 ? "is" : "are", first));
}

Result<SweepResult> MergeSweeps(
    const std::vector<std::filesystem::path>& journals, bool allow_missing) {
  if (journals.empty())
    return Fail(ErrorCode::kInvalidArgument, "no journal to merge");
  Merger merger;
  for (const std::filesystem::path& path : journals) {
    PARITY_ASSIGN_OR_RETURN(JournalContents contents, ReadSweepJournal(path));
    PARITY_RETURN_IF_ERROR(merger.Add(path.string(), std::move(contents)));
  }
  SweepResult merged = std::move(merger).Finish();
  const Status complete = CheckComplete(merged);
  if (complete) return merged;
  if (!allow_missing) return std::unexpected(complete.error());
  merged.notes.push_back(complete.error().message);
  return merged;
}

}  // namespace parity
