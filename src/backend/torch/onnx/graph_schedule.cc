#include "backend/torch/onnx/graph_schedule.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "graph/model.h"
#include "graph/subgraphs.h"

namespace parity {
namespace {

void AddReads(const Node& node, std::vector<std::string_view>& names);

// What a subgraph takes from the graphs around it.
void AddFreeNames(const Graph& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> defined;
  for (const ValueInfo& input : graph.inputs) defined.insert(input.name);
  for (const Initializer& initializer : graph.initializers)
    defined.insert(initializer.name);
  std::vector<std::string_view> reads;
  for (const Node& node : graph.nodes) {
    AddReads(node, reads);
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const ValueInfo& output : graph.outputs) reads.push_back(output.name);
  std::ranges::copy_if(
      reads, std::back_inserter(names),
      [&](std::string_view name) { return !defined.contains(name); });
}

void AddReads(const Node& node, std::vector<std::string_view>& names) {
  for (const std::string& input : node.inputs) {
    if (!input.empty()) names.push_back(input);
  }
  for (const Graph* graph : Subgraphs(node)) AddFreeNames(*graph, names);
}

}  // namespace

GraphIndex::GraphIndex(const Graph& graph) : nodes(graph.nodes) {
  for (const ValueInfo& input : graph.inputs) inputs.push_back(input.name);
  for (const ValueInfo& output : graph.outputs) outputs.push_back(output.name);
  for (const Initializer& initializer : graph.initializers)
    initializers.emplace(initializer.name, &initializer);
  AddNodes();
}

GraphIndex::GraphIndex(const Function& function) : nodes(function.nodes) {
  inputs.assign(function.inputs.begin(), function.inputs.end());
  outputs.assign(function.outputs.begin(), function.outputs.end());
  AddNodes();
}

void GraphIndex::AddNodes() {
  reads.reserve(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string_view>& names = reads.emplace_back();
    AddReads(nodes[i], names);
    std::ranges::sort(names);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    for (const std::string& output : nodes[i].outputs) {
      if (!output.empty()) producers.emplace(output, i);
    }
  }
}

bool GraphIndex::Defines(std::string_view name) const {
  return producers.contains(name) || initializers.contains(name) ||
         std::ranges::contains(inputs, name);
}

Schedule MakeSchedule(const GraphIndex& index,
                      std::span<const std::string_view> wanted,
                      const std::unordered_set<std::string_view>& given) {
  Schedule schedule;
  std::vector<bool> needed(index.nodes.size(), false);
  std::vector<std::size_t> pending;
  const auto need_node = [&](std::size_t node) {
    if (needed[node]) return;
    needed[node] = true;
    pending.push_back(node);
  };
  std::unordered_set<std::string_view> missing;
  const auto need = [&](std::string_view name, bool computed) {
    ++schedule.uses[name];
    if (given.contains(name) && !computed) return;
    if (const auto producer = index.producers.find(name);
        producer != index.producers.end()) {
      need_node(producer->second);
    } else if (!given.contains(name) && !index.initializers.contains(name) &&
               missing.insert(name).second) {
      schedule.missing.push_back(name);
    }
  };
  for (const std::string_view name : wanted) need(name, /*computed=*/true);
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    for (const std::string_view name : index.reads[node])
      need(name, /*computed=*/false);
  }
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) schedule.nodes.push_back(i);
  }
  return schedule;
}

}  // namespace parity
