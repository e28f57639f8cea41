// Where an export departs from the network it was made from: the first node
// whose value the network did not compute although everything it was computed
// from is right. Both sides are compared in float64, value by value, whatever
// their names and operators.
#ifndef PARITY_DIAGNOSE_VALUE_ALIGNMENT_H_
#define PARITY_DIAGNOSE_VALUE_ALIGNMENT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "graph/model.h"

namespace parity {

struct AlignmentQuestion {
  const Graph& graph;
  std::span<const TracedValue> reference;  // float64, in order
  std::span<const TracedValue> candidate;  // of `graph` in float64, by name
  // The graph's inputs by name: shape and sketch.
  std::span<const TracedValue> inputs;
  // Names of the outputs that differ, in float64.
  std::span<const std::string> wrong_outputs;
  // Relative: what rounding of weights and float64 arithmetic can account for.
  double tolerance = 1e-6;
};

struct Divergence {
  // Name of the node, of its value where it has none; empty when an output is a
  // constant or an input.
  std::string node;
  std::string value;  // its first wrong one
  // Of the network, that the node belongs to or whose value is missing in the
  // graph; may be empty.
  std::string module;
  // Further nodes whose inputs are right and whose value the reference does not
  // have, the likelier first: other faults, or steps of an operator that the
  // exporter took apart. Then those that reordered what a suspect uses.
  std::vector<std::string> other_suspects;
  // The node, steps of integers before it that the reference does not have, and
  // what follows it up to the value that should have been one of the
  // reference's again, in order: the fault is in one of them. Often the node
  // alone.
  std::vector<std::string> region;
  // What the node was computed from and the reference has, too.
  std::string last_agreeing_value;
  // RelativeDistance() of the value to the nearest of the reference's with as
  // many elements. 0 when an output is a value of the reference, but another
  // than it should be.
  double distance = 0;
};

// Nothing when no wrong output is a value of the graph.
[[nodiscard]] std::optional<Divergence> FindDivergence(
    const AlignmentQuestion& question);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_VALUE_ALIGNMENT_H_
