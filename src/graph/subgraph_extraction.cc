#include "graph/subgraph_extraction.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "graph/subgraphs.h"

namespace parity {
namespace {

// Keeps the order of first use.
class NameList {
 public:
  void Add(const std::string& name) {
    if (!name.empty() && seen_.insert(name).second) names_.push_back(name);
  }
  [[nodiscard]] std::vector<std::string> Take() && { return std::move(names_); }

 private:
  std::unordered_set<std::string> seen_;
  std::vector<std::string> names_;
};

void AddNamesUsed(const Node& node, NameList& names);

// What a body uses and does not define. Names are unique across nested graphs,
// so that the order of definitions does not matter.
void AddFreeNames(const Graph& body, NameList& names) {
  std::set<std::string_view> defined;
  for (const ValueInfo& input : body.inputs) defined.insert(input.name);
  for (const Initializer& initializer : body.initializers)
    defined.insert(initializer.name);
  for (const Node& node : body.nodes)
    defined.insert(node.outputs.begin(), node.outputs.end());
  NameList used;
  for (const Node& node : body.nodes) AddNamesUsed(node, used);
  for (const ValueInfo& output : body.outputs) used.Add(output.name);
  for (const std::string& name : std::move(used).Take()) {
    if (!defined.contains(name)) names.Add(name);
  }
}

void AddNamesUsed(const Node& node, NameList& names) {
  for (const std::string& input : node.inputs) names.Add(input);
  for (const Graph* const graph : Subgraphs(node)) AddFreeNames(*graph, names);
}

bool IsConstant(const Node& node) {
  return node.op_type == "Constant" && node.domain.empty();
}

std::vector<std::string> NamesUsedBy(const Graph& graph,
                                     std::span<const std::size_t> nodes) {
  NameList names;
  for (const std::size_t index : nodes) AddNamesUsed(graph.nodes[index], names);
  return std::move(names).Take();
}

}  // namespace

std::vector<std::string> NamesUsed(const Node& node) {
  NameList names;
  AddNamesUsed(node, names);
  return std::move(names).Take();
}

std::vector<std::string> ValuesNeeded(const Graph& graph,
                                      std::span<const std::size_t> nodes) {
  std::unordered_set<std::string_view> known;
  for (const Initializer& initializer : graph.initializers)
    known.insert(initializer.name);
  for (const Node& node : graph.nodes) {
    if (IsConstant(node))
      known.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const std::size_t index : nodes) {
    const Node& node = graph.nodes[index];
    known.insert(node.outputs.begin(), node.outputs.end());
  }
  std::vector<std::string> needed = NamesUsedBy(graph, nodes);
  std::erase_if(needed,
                [&](const std::string& name) { return known.contains(name); });
  return needed;
}

Model ExtractNodes(const Model& model, const Extraction& extraction) {
  const Graph& whole = model.graph;
  Model cut;
  cut.ir_version = model.ir_version;
  cut.opset_imports = model.opset_imports;
  cut.functions = model.functions;
  cut.producer_name = "onnx-parity";
  cut.doc_string = "cut out of a larger model";
  cut.graph.name = whole.name.empty() ? "cut" : whole.name;
  cut.graph.inputs = extraction.inputs;
  cut.graph.outputs = extraction.outputs;

  const std::vector<std::string> names = NamesUsedBy(whole, extraction.nodes);
  const std::unordered_set<std::string_view> used(names.begin(), names.end());
  std::unordered_set<std::string_view> inner;
  for (std::size_t i = 0; i < whole.nodes.size(); ++i) {
    const Node& node = whole.nodes[i];
    const bool is_used_constant =
        IsConstant(node) &&
        std::ranges::any_of(node.outputs, [&](const std::string& output) {
          return used.contains(output);
        });
    if (!is_used_constant && !std::ranges::contains(extraction.nodes, i))
      continue;
    cut.graph.nodes.push_back(node);
    inner.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const Initializer& initializer : whole.initializers) {
    if (!used.contains(initializer.name)) continue;
    cut.graph.initializers.push_back(initializer);
    // Before IR version 4 every initializer is an input, too.
    const auto input =
        std::ranges::find(whole.inputs, initializer.name, &ValueInfo::name);
    if (input != whole.inputs.end()) cut.graph.inputs.push_back(*input);
  }
  for (const ValueInfo& info : whole.value_infos) {
    if (inner.contains(info.name) &&
        !std::ranges::contains(extraction.outputs, info.name, &ValueInfo::name))
      cut.graph.value_infos.push_back(info);
  }
  return cut;
}

}  // namespace parity
