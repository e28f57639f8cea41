// The life of a sweep: find the runtimes, make the plan, open the journal, run
// what it does not have yet, rank.
#include "parity/sweep.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <format>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/scratch_folder.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "parity/error.h"
#include "sweep/network_exporter.h"
#include "sweep/row_run.h"
#include "sweep/sweep_check.h"
#include "sweep/sweep_journal.h"
#include "sweep/sweep_plan.h"
#include "sweep/sweep_ranking.h"
#include "sweep/sweep_runtimes.h"

namespace parity {
namespace {

namespace fs = std::filesystem;
Status CheckOptions(const SweepOptions& options) {
  const Shard& shard = options.shard;
  if (shard.count == 0 || shard.index == 0 || shard.index > shard.count) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("--shard {}/{}: K/N is a part K from 1 to N",
                            shard.index, shard.count));
  }
  if (options.repeats < 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "--repeat: at least one run is needed for its time");
  }
  if (options.cache.empty())
    return Fail(ErrorCode::kInvalidArgument, "a sweep needs a cache folder");
  return {};
}

// Where the journal is when nobody says where: named after the sweep. One that
// another process holds is left to it.
fs::path OwnJournal(const fs::path& cache, const std::string& digest,
                    const Shard& shard) {
  const fs::path folder = cache / "sweeps";
  for (int copy = 1;; ++copy) {
    fs::path path =
        folder / std::format("{}-{}-of-{}{}.jsonl", digest.substr(0, 32),
                             shard.index, shard.count,
                             copy == 1 ? "" : std::format("-{}", copy));
    if (!SweepJournal::IsInUse(path)) return path;
  }
}

// "roi_align, scatter_nd, DnnlExecutionProvider": what tells a row from others.
std::string LabelOf(const PlannedRow& row, const std::set<std::string>& axes) {
  std::string label;
  for (const AxisValue& value : row.axes) {
    if (!axes.contains(value.axis)) continue;
    label += (label.empty() ? "" : ", ") + value.value;
  }
  return label;
}

// The axes on which two rows differ.
std::set<std::string> VaryingAxes(const std::vector<PlannedRow>& rows) {
  std::set<std::string> axes;
  for (const PlannedRow& row : rows) {
    for (std::size_t i = 0; i < row.axes.size(); ++i) {
      if (row.axes[i] != rows.front().axes[i]) axes.insert(row.axes[i].axis);
    }
  }
  return axes;
}

// One sweep in progress.
class Sweeper {
 public:
  explicit Sweeper(const SweepOptions& options) : options_(options) {}

  Result<SweepResult> Run() {
    const Stopwatch time;
    PARITY_RETURN_IF_ERROR(CheckOptions(options_));
    Report("looking at the runtimes");
    PARITY_ASSIGN_OR_RETURN(const std::vector<SweepRuntime> runtimes,
                            FindSweepRuntimes(options_));
    PARITY_ASSIGN_OR_RETURN(plan_, PlanSweep(options_, runtimes));
    PARITY_ASSIGN_OR_RETURN(const ScratchFolder scratch,
                            ScratchFolder::Create(options_.cache / "scratch"));
    NetworkExporter exporter(scratch.path());
    Report("checking the plan");
    PARITY_RETURN_IF_ERROR(CheckSweep(plan_, exporter));
    PARITY_RETURN_IF_ERROR(OpenJournal());
    if (Status run = RunRows(exporter); !run)
      return std::unexpected(Explained(std::move(run).error()));
    result_.total_ms = time.milliseconds();
    RankRows(result_.rows);
    return std::move(result_);
  }

 private:
  Status OpenJournal() {
    result_.plan = plan_.digest;
    result_.title = plan_.title;
    result_.row_count = plan_.rows.size();
    result_.shard = options_.shard;
    fs::path path = options_.journal;
    if (path.empty()) {
      path = OwnJournal(options_.cache, plan_.digest, options_.shard);
      std::error_code error;
      fs::create_directories(path.parent_path(), error);
      if (error) {
        return Fail(ErrorCode::kIo,
                    std::format("cannot make the folder {}: {}",
                                path.parent_path().string(), error.message()));
      }
    }
    PARITY_ASSIGN_OR_RETURN(
        SweepJournal journal,
        SweepJournal::Open(path, {.plan = plan_.digest,
                                  .title = plan_.title,
                                  .row_count = plan_.rows.size(),
                                  .shard = options_.shard,
                                  .notes = plan_.notes}));
    journal_.emplace(std::move(journal));
    if (options_.restart) PARITY_RETURN_IF_ERROR(journal_->RemoveRows());
    result_.journal = path;
    result_.rows = journal_->rows();
    result_.notes = plan_.notes;
    std::ranges::copy(journal_->notes(), std::back_inserter(result_.notes));
    result_.resumed = result_.rows.size();
    return {};
  }

  Status RunRows(NetworkExporter& exporter) {
    const std::set<std::string> varying = VaryingAxes(plan_.rows);
    std::set<std::size_t> finished;
    for (const SweepRow& row : result_.rows) finished.insert(row.index);
    for (const PlannedRow& row : plan_.rows)
      total_ += IsIn(options_.shard, row.index) ? 1 : 0;
    for (PlannedRow& row : plan_.rows) {
      if (!IsIn(options_.shard, row.index) || finished.contains(row.index))
        continue;
      const std::string label = LabelOf(row, varying);
      row.options.reference.cache = options_.cache;
      PARITY_ASSIGN_OR_RETURN(
          SweepRow done, RunRow(row, exporter, [&](std::string_view what) {
            Report(label.empty() ? std::string(what)
                                 : std::format("{}: {}", label, what));
          }));
      PARITY_RETURN_IF_ERROR(journal_->Append(done));
      spent_ms_ += done.total_ms;
      ++measured_;
      result_.rows.push_back(std::move(done));
    }
    return {};
  }

  // An interrupted sweep says what it has and how to go on.
  Error Explained(Error error) const {
    if (error.code != ErrorCode::kInterrupted) return error;
    error.message = std::format(
        "interrupted; {} of {} rows are in {}, and the same "
        "command goes on with the others",
        result_.rows.size(), total_, result_.journal.string());
    return error;
  }

  void Report(std::string text) {
    if (!options_.progress) return;
    SweepProgress progress{.done = result_.rows.size(),
                           .total = total_,
                           .text = std::move(text),
                           .remaining_seconds = std::nullopt};
    // Rows of the same sweep take about as long as each other.
    if (measured_ > 0 && total_ >= result_.rows.size()) {
      progress.remaining_seconds =
          spent_ms_ / 1000 / static_cast<double>(measured_) *
          static_cast<double>(total_ - result_.rows.size());
    }
    options_.progress(progress);
  }

  const SweepOptions& options_;
  SweepPlan plan_;
  std::optional<SweepJournal> journal_;
  SweepResult result_;
  std::size_t total_ = 0;     // rows of this shard
  std::size_t measured_ = 0;  // rows that this run has finished
  double spent_ms_ = 0;       // on them
};

}  // namespace

Result<SweepResult> Sweep(const SweepOptions& options) {
  return Sweeper(options).Run();
}

}  // namespace parity
