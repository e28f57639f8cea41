// What a sweep will do: its rows, in order, before anything runs.
#ifndef PARITY_SWEEP_SWEEP_PLAN_H_
#define PARITY_SWEEP_SWEEP_PLAN_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/sweep_runtimes.h"

namespace parity {

// How a row's model is made.
struct ExportPlan {
  MattingConfig config;
  MattingExportOptions graph;
  std::string key;  // equal for equal models
};

struct PlannedRow {
  std::size_t index = 0;
  std::vector<AxisValue> axes;
  std::optional<ExportPlan> exported;  // nothing: the model is given
  ValidationOptions options;           // its model is empty when exported
  std::string command;
};

struct SweepPlan {
  std::string title;  // "BackgroundMattingV2 mattingrefine, 18 combinations"
  std::vector<std::string> notes;  // what the user should know
  std::string digest;  // of the rows, and of all that their results depend on
  std::vector<PlannedRow> rows;
};

// Rows in an order in which equal models follow each other. The digest takes
// files by their content, runtimes by their version. Errors: those of the axes,
// of reading the files that are given, and of a model without a reference.
[[nodiscard]] Result<SweepPlan> PlanSweep(
    const SweepOptions& options, const std::vector<SweepRuntime>& runtimes);

// Whether this shard runs the row.
[[nodiscard]] inline bool IsIn(const Shard& shard, std::size_t row) {
  return row % shard.count == shard.index - 1;
}

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_PLAN_H_
