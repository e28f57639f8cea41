// The graphs inside nodes: bodies of If, Loop, Scan.
#ifndef PARITY_GRAPH_SUBGRAPHS_H_
#define PARITY_GRAPH_SUBGRAPHS_H_

#include <vector>

#include "graph/model.h"

namespace parity {

// The graphs in the attributes of a node, in order; never null.
[[nodiscard]] std::vector<const Graph*> Subgraphs(const Node& node);

}  // namespace parity

#endif  // PARITY_GRAPH_SUBGRAPHS_H_
