// Which nodes of a graph wanted values need, and how often those read what.
#ifndef PARITY_BACKEND_TORCH_ONNX_GRAPH_SCHEDULE_H_
#define PARITY_BACKEND_TORCH_ONNX_GRAPH_SCHEDULE_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/model.h"

namespace parity {

// A graph, or the body of a function, with what is looked up while it is
// evaluated. Borrows from the model.
struct GraphIndex {
  std::span<const Node> nodes;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::unordered_map<std::string_view, const Initializer*> initializers;
  std::unordered_map<std::string_view, std::size_t> producers;  // value → node
  // What each node reads, each name once: its inputs, and the values that its
  // subgraphs take from the graphs around them.
  std::vector<std::vector<std::string_view>> reads;

  explicit GraphIndex(const Graph& graph);
  explicit GraphIndex(const Function& function);

  // An input, an initializer or an output of a node.
  [[nodiscard]] bool Defines(std::string_view name) const;

 private:
  void AddNodes();
};

struct Schedule {
  std::vector<std::size_t> nodes;  // to be evaluated, in order
  // How many of those nodes read a value; one more for values wanted.
  std::unordered_map<std::string_view, int> uses;
  // Values needed that are neither given nor computed nor constant, in the
  // order they were found.
  std::vector<std::string_view> missing;
};

// Backwards from `wanted`, stopping at what is given. A wanted value with a
// node is computed by it even when it is given.
[[nodiscard]] Schedule MakeSchedule(
    const GraphIndex& index, std::span<const std::string_view> wanted,
    const std::unordered_set<std::string_view>& given);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_GRAPH_SCHEDULE_H_
