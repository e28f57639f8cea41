// The numbers of a trace on their way between processes: tensors beside a run's
// outputs.
#ifndef PARITY_WORKER_TRACE_TENSORS_H_
#define PARITY_WORKER_TRACE_TENSORS_H_

#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Adds the sketches and tensors of `trace` to `tensors`, under names that no
// model's output has. Errors: those of allocating.
[[nodiscard]] Status AppendTrace(const std::vector<TracedValue>& trace,
                                 NamedTensors& tensors);

// Whether AppendTrace() makes such a name.
[[nodiscard]] bool IsTraceTensor(std::string_view name);

// The inverse: completes `trace` from `tensors`. Errors: kCorrupt when they do
// not fit each other.
[[nodiscard]] Status CompleteTrace(const NamedTensors& tensors,
                                   std::vector<TracedValue>& trace);

}  // namespace parity

#endif  // PARITY_WORKER_TRACE_TENSORS_H_
