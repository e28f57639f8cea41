// Looks at a model's structure before anything runs it.
#ifndef PARITY_GRAPH_GRAPH_CHECKS_H_
#define PARITY_GRAPH_GRAPH_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/model.h"
#include "parity/error.h"

namespace parity {

// What makes the model no valid ONNX graph, one line each, in the order of the
// graph: values used that are defined nowhere or only later (a subgraph sees
// the values defined before its node), values defined twice in one graph,
// outputs that are missing or listed twice, nodes without an op_type. Empty
// when all is well. At most `limit` lines. Linear in the size of the model.
[[nodiscard]] std::vector<std::string> StructureProblems(
    const Model& model, std::size_t limit = 20);

// Errors: kCorrupt with the first problem, and how many more there are.
[[nodiscard]] Status CheckStructure(const Model& model);

// How often each operator occurs, subgraphs included, functions' bodies not.
// Operators of other domains than ONNX's are named with theirs:
// "com.microsoft.FusedConv".
[[nodiscard]] std::map<std::string, std::int64_t> OpHistogram(
    const Graph& graph);

}  // namespace parity

#endif  // PARITY_GRAPH_GRAPH_CHECKS_H_
