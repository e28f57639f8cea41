// The float64 graph with every selection as one side made it.
#ifndef PARITY_DIAGNOSE_PINNED_SELECTIONS_H_
#define PARITY_DIAGNOSE_PINNED_SELECTIONS_H_

#include <cstdint>
#include <vector>

#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {

struct Pinned {
  NamedTensors pins;     // values of the selections, as that side chose
  NamedTensors outputs;  // of the graph and scores, in float64; and the pins
};

// In the order of the graph.
[[nodiscard]] std::vector<const Node*> SelectionNodes(const Graph& graph);

// How many cells the first selection that differs at all picks otherwise, of
// those that both sides have by name. Of indices, how many the other lacks,
// whatever their order.
[[nodiscard]] std::int64_t DifferingCells(const NamedTensors& expected,
                                          const NamedTensors& actual);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_PINNED_SELECTIONS_H_
