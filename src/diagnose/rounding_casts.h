// Casts to 16 bits that nothing computes with: they only lose precision.
#ifndef PARITY_DIAGNOSE_ROUNDING_CASTS_H_
#define PARITY_DIAGNOSE_ROUNDING_CASTS_H_

#include <vector>

#include "graph/model.h"

namespace parity {

// In the order of the graph: casts to 16 bits whose result is only cast again.
// A graph that computes in 16 bits, as mixed precision does, has none there.
[[nodiscard]] std::vector<const Node*> RoundingCasts(const Graph& graph);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_ROUNDING_CASTS_H_
