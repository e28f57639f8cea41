// A sweep: one validation for each combination of patch methods, refine modes,
// execution providers, … and which of them to ship.
#ifndef PARITY_SWEEP_H_
#define PARITY_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"

namespace parity {

// The values to combine. Texts as the command line takes them; "all" alone
// means every value there is. Empty: the default.
struct SweepAxes {
  // How the built-in network is exported; default: as the configuration of
  // SweepOptions::validation says, and all crop and replace methods.
  std::vector<std::string> crop;            // unfold, roi_align, gather
  std::vector<std::string> replace;         // scatter_nd, scatter_element
  std::vector<std::string> refine_mode;     // full, sampling, thresholding
  std::vector<std::string> backbone;        // resnet101, resnet50, mobilenetv2
  std::vector<std::string> backbone_scale;  // up to 0.5
  std::vector<std::string> kernel_size;     // 1, 3
  std::vector<std::string> opset;           // 11…20
  std::vector<std::string> precision;       // float32, float16
  // How it is run. Default: every provider of the runtime, optimization "all".
  std::vector<std::string> provider;      // "cpu", "DnnlExecutionProvider"
  std::vector<std::string> optimization;  // disabled, basic, extended, all
  std::vector<std::string> runtime;  // "system", "1.30.0", path of a library
  // "1x3x720x1280" for every input, "src=1x3x8x8+bgr=1x3x8x8" by name.
  std::vector<std::string> shape;
};

// Part `index` of `count`, from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
  bool operator==(const Shard&) const = default;
};

struct AxisValue {
  std::string axis;   // "crop", as the JSON report names it
  std::string value;  // "roi_align"
  bool operator==(const AxisValue&) const = default;
};

// One combination and what came of it.
struct SweepRow {
  std::size_t index = 0;  // in the whole sweep, from 0
  std::vector<AxisValue> axes;
  Verdict verdict = Verdict::kUndecided;
  std::optional<Cause> cause;
  std::string message;  // why it did not pass, one line; empty when it did
  // The output whose difference comes closest to its limit or exceeds it most,
  // over all cases. Empty: nothing was compared.
  std::string worst_output;
  std::string worst_case;
  double worst_difference = 0;  // max |reference − candidate|
  double worst_limit = 0;       // its atol
  std::string runtime_version;  // "ONNX Runtime 1.21.0"; empty: did not load
  // Of the candidate, alone on the machine as far as this tool is concerned, in
  // the first case. Nothing where it did not get so far.
  std::optional<double> load_ms;
  std::optional<double> first_run_ms;
  std::optional<double> steady_run_ms;  // median of `repeats` further runs
  std::int64_t repeats = 0;
  std::int64_t peak_rss_bytes = 0;  // 0: unknown
  // Execution provider → nodes it ran, after the graph's optimization. Empty:
  // unknown.
  std::map<std::string, std::int64_t> provider_nodes;
  double total_ms = 0;  // the row as a whole: export, both sides, explanation
  // The command that exports and the flags that run this combination.
  std::string command;

  // "" for an axis that the sweep does not have.
  [[nodiscard]] std::string_view Axis(std::string_view axis) const;
  // The provider that was asked for loaded, but ran no node.
  [[nodiscard]] bool provider_ran_nothing() const;
};

struct SweepProgress {
  std::size_t done = 0;  // rows, of this shard, earlier ones included
  std::size_t total = 0;
  std::string text;  // what is being done now
  std::optional<double>
      remaining_seconds;  // nothing before the first row ended
};

struct SweepOptions {
  // The model; empty: the built-in network, exported for every combination.
  // Reference, cases, tolerance and limits are those of every row;
  // runtime.provider, runtime.optimization and runtime.library of it are not
  // used, nor is progress.
  ValidationOptions validation;
  SweepAxes axes;
  int repeats = 5;  // of the steady runs
  Shard shard;
  // One line for each finished row (docs/formats/sweep_journal.md). Empty: a
  // file in the cache folder that is named after the sweep; the caller removes
  // it when it has shown the result.
  std::filesystem::path journal;
  bool restart = false;  // rows that the journal has are measured again
  // Folder for results of references and, unless told otherwise, the journal.
  std::filesystem::path cache;
  // The library of a runtime named on the axis, from its name.
  std::function<Result<std::filesystem::path>(std::string_view)> find_runtime;
  std::function<void(const SweepProgress&)> progress;  // may be empty
};

struct SweepResult {
  std::string plan;   // hash of all that defines the sweep: what its rows are
                      // and what they were measured with
  std::string title;  // what was swept, in words
  std::size_t row_count = 0;  // of the whole sweep
  Shard shard;
  // The best first: what passed, by steady run time, then what could not be
  // told, then what failed.
  std::vector<SweepRow> rows;
  std::filesystem::path journal = {};
  std::size_t resumed = 0;  // rows that an earlier run had finished
  std::vector<std::string> notes;
  double total_ms = 0;

  // The row to ship: the fastest that passed; null when none did. Of several
  // shapes: the combination of the other axes that passed at most of them and
  // is fastest over those, represented by its slowest row.
  [[nodiscard]] const SweepRow* recommended() const;
};

// Runs every combination that the journal does not have yet. A combination that
// does not load, fails or crashes is a row. Errors: unusable options, files
// that cannot be read, a journal of another sweep or in use, a journal or cache
// that cannot be written, kInterrupted; the rows finished until then are kept.
[[nodiscard]] Result<SweepResult> Sweep(const SweepOptions& options);

// The sweep that several journals make together. Errors: kIncompatible for
// journals of different sweeps, and for a row that two journals have with
// different verdicts; kNotFound for rows that none has (naming the first),
// unless `allow_missing`. A row that two have with the same verdict is a note.
[[nodiscard]] Result<SweepResult> MergeSweeps(
    const std::vector<std::filesystem::path>& journals, bool allow_missing);

}  // namespace parity

#endif  // PARITY_SWEEP_H_
