// Runs one combination of a sweep.
#ifndef PARITY_SWEEP_ROW_RUN_H_
#define PARITY_SWEEP_ROW_RUN_H_

#include <functional>
#include <string_view>

#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"

namespace parity {

// What the validation of a row says of it; axes, index and command are the
// row's own.
[[nodiscard]] SweepRow RowOf(const PlannedRow& planned,
                             const Result<ValidationResult>& result);

// Exports the row's model, if need be, and validates it. A combination that
// cannot be exported, loaded or run is a row that says so. Errors:
// kInterrupted, kIo when the exported file cannot be written, and kNotFound
// when a file that the sweep was started with is gone: they say nothing about
// the combination.
[[nodiscard]] Result<SweepRow> RunRow(
    const PlannedRow& planned, NetworkExporter& exporter,
    const std::function<void(std::string_view)>& progress);

}  // namespace parity

#endif  // PARITY_SWEEP_ROW_RUN_H_
