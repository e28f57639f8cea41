// Where the float64 graph departs from the float64 reference.
#ifndef PARITY_DIAGNOSE_DEPARTURE_H_
#define PARITY_DIAGNOSE_DEPARTURE_H_

#include <optional>

#include "diagnose/investigation.h"
#include "diagnose/value_alignment.h"

namespace parity {

// Nothing without both traces, and when the two agree.
[[nodiscard]] std::optional<Divergence> FindDeparture(
    const Investigation& investigation);

// Whether nothing that the graph computes agrees: its inputs may be meant
// differently. True also when nobody knows.
[[nodiscard]] bool MayDepartAtInputs(const Investigation& investigation);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_DEPARTURE_H_
