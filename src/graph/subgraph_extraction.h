// Cuts nodes out of a model, as a model of their own that computes what they
// compute in the whole.
#ifndef PARITY_GRAPH_SUBGRAPH_EXTRACTION_H_
#define PARITY_GRAPH_SUBGRAPH_EXTRACTION_H_

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "graph/model.h"

namespace parity {

// Names that a node takes from the graph around it, each once: its inputs, and
// what the bodies of control flow use from outside.
[[nodiscard]] std::vector<std::string> NamesUsed(const Node& node);

// What the nodes (indices into graph.nodes) use and none of them computes,
// without constants (initializers, and values of Constant nodes): each once, in
// order of first use. A caller of the cut-out model must feed these.
[[nodiscard]] std::vector<std::string> ValuesNeeded(
    const Graph& graph, std::span<const std::size_t> nodes);

struct Extraction {
  std::vector<std::size_t> nodes;  // indices into graph.nodes
  std::vector<ValueInfo> inputs;   // ValuesNeeded(), with their types
  std::vector<ValueInfo> outputs;  // values that the nodes compute
};

// The nodes in the order of the graph with the constants that they use, under
// the model's operator sets, IR version and functions. Tensors are shared with
// the model. Its metadata are left out: they describe the whole.
[[nodiscard]] Model ExtractNodes(const Model& model,
                                 const Extraction& extraction);

}  // namespace parity

#endif  // PARITY_GRAPH_SUBGRAPH_EXTRACTION_H_
