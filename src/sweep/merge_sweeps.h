// What journals of one sweep leave open when they are put together.
#ifndef PARITY_SWEEP_MERGE_SWEEPS_H_
#define PARITY_SWEEP_MERGE_SWEEPS_H_

#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

// Errors: kNotFound for rows of the whole sweep that the result does not have,
// saying how many and naming the first.
[[nodiscard]] Status CheckComplete(const SweepResult& result);

}  // namespace parity

#endif  // PARITY_SWEEP_MERGE_SWEEPS_H_
