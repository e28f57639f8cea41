// A graph as text, to see what changed.
#ifndef PARITY_TESTS_MUTATION_GRAPH_LINES_H_
#define PARITY_TESTS_MUTATION_GRAPH_LINES_H_

#include <string>
#include <vector>

#include "graph/model.h"

namespace parity {

// A line for each node, in order: operator, attributes, inputs (constants with
// their contents instead of their names), outputs.
[[nodiscard]] std::vector<std::string> GraphLines(const Graph& graph);

// Lines of `a` that `b` does not have.
[[nodiscard]] std::vector<std::string> LinesOnlyIn(
    const std::vector<std::string>& a, const std::vector<std::string>& b);

// The network's export, at its smallest: mobilenetv2. Made once.
[[nodiscard]] const Model& MattingModel(bool folded);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_GRAPH_LINES_H_
