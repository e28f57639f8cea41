// What a sweep can know to be wrong before it measures anything.
#ifndef PARITY_SWEEP_SWEEP_CHECK_H_
#define PARITY_SWEEP_SWEEP_CHECK_H_

#include "parity/error.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"

namespace parity {

// A combination that is refused is a row of the table; what is wrong with the
// command itself is an error instead, not the same line in every row: weights
// that no row can use, flags that do not fit the model, shapes that it does not
// take. Exports one model. Errors: of these.
[[nodiscard]] Status CheckSweep(const SweepPlan& plan,
                                NetworkExporter& exporter);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_CHECK_H_
