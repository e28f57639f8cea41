// Faults of what flows where: inputs, types and outputs exchanged.
#include <cstddef>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/splitmix.h"
#include "fault_planting.h"
#include "fault_sites.h"
#include "graph/model.h"
#include "graph_edits.h"
#include "graph_facts.h"
#include "parity/dtype.h"

namespace parity {
namespace {

// Whether the first two inputs may trade places without a change of the
// output's shape.
bool IsOrdered(const Node& node) {
  return node.op_type == "Sub" || node.op_type == "Div" ||
         node.op_type == "Pow" || node.op_type == "Concat" ||
         node.op_type == "Greater" || node.op_type == "Less" ||
         node.op_type == "GreaterOrEqual" || node.op_type == "LessOrEqual";
}

FaultSite SwapSite(const Node& node, std::size_t index, std::size_t a,
                   std::size_t b) {
  return {.node = index,
          .value = node.outputs[0],
          .plant = [index, a, b](PlantedFault& fault, const SplitMixStream&) {
            Node& changed = fault.model.graph.nodes[index];
            fault.description =
                std::format("inputs '{}' and '{}' swapped", changed.inputs[a],
                            changed.inputs[b]);
            std::swap(changed.inputs[a], changed.inputs[b]);
            return true;
          }};
}

void AddSwaps(const Node& node, std::size_t index, const GraphFacts& facts,
              FaultSites& sites) {
  const std::size_t first = node.op_type == "Where" ? 1 : 0;
  if (!IsOrdered(node) && node.op_type != "Where") return;
  for (std::size_t i = first; i + 1 < node.inputs.size(); ++i) {
    if (node.inputs[i] != node.inputs[i + 1] && facts.IsFloat(node.inputs[i]))
      sites["inputs swapped"].push_back(SwapSite(node, index, i, i + 1));
  }
}

FaultSite OtherValueSite(const Node& node, std::size_t index, std::size_t input,
                         std::string other) {
  return {.node = index,
          .value = node.outputs[0],
          .plant = [index, input, other = std::move(other)](
                       PlantedFault& fault, const SplitMixStream&) {
            std::string& used = fault.model.graph.nodes[index].inputs[input];
            fault.description =
                std::format("uses '{}' instead of '{}'", other, used);
            used = other;
            return true;
          }};
}

// Graph inputs, then every node's values as the walk passes it: by class.
using Earlier =
    std::unordered_map<std::string_view, std::vector<std::string_view>>;

bool IsIdentity(const Node& node) {
  return node.op_type == "Identity" || node.op_type == "Dropout" ||
         node.op_type == "Shape" || node.op_type == "Size";
}

// Values of the same shape that a node could have used just as well.
void AddOtherValues(const Node& node, std::size_t index,
                    const GraphFacts& facts, const Earlier& earlier,
                    FaultSites& sites) {
  if (IsIdentity(node)) return;
  for (std::size_t input = 0; input < node.inputs.size(); ++input) {
    const std::string& used = node.inputs[input];
    const auto found = earlier.find(facts.ShapeClassOf(used));
    if (used.empty() || !facts.IsData(used) || found == earlier.end()) continue;
    for (const std::string_view other : found->second) {
      if (other != used && facts.TypeOf(other) == facts.TypeOf(used)) {
        sites["other value"].push_back(
            OtherValueSite(node, index, input, std::string(other)));
      }
    }
  }
}

// Whether leaving the node out changes nothing, however it is fed.
bool PassesThrough(const Graph& graph, const GraphFacts& facts,
                   std::string_view value) {
  const std::optional<std::size_t> producer = facts.ProducerOf(value);
  return producer.has_value() && IsIdentity(graph.nodes[*producer]);
}

// Gives whole numbers, which casts keep.
bool IsWhole(const Node& node) {
  return node.op_type == "Cast" || node.op_type == "Round" ||
         node.op_type == "Floor" || node.op_type == "Ceil" ||
         node.op_type == "Sign";
}

// A value cast to `type` and back.
FaultSite CastSite(std::size_t index, const std::string& value, DType own,
                   DType type) {
  return {
      .node = index,
      .value = value,
      .plant = [value, own, type](PlantedFault& fault, const SplitMixStream&) {
        Graph& graph = fault.model.graph;
        const std::string neighbour = fault.node;
        fault.description =
            std::format("'{}' cast to {} and back", value, Name(type));
        InsertBehind(
            graph, value, [&](const std::string& from, const std::string& to) {
              const std::string narrow = FreshName(graph, value + "_narrow");
              const auto cast = [&](std::string_view suffix,
                                    const std::string& input,
                                    const std::string& output, DType as) {
                return MakeNode(graph, neighbour, "Cast", suffix, {input},
                                output,
                                {{.name = "to", .value = OnnxTypeNumber(as)}});
              };
              std::vector<Node> nodes = {cast("there", from, narrow, type),
                                         cast("back", narrow, to, own)};
              for (const Node& added : nodes) fault.added.push_back(added.name);
              return nodes;
            });
        return true;
      }};
}

bool SameType(const ValueInfo& a, const ValueInfo& b) {
  if (a.dtype != b.dtype || a.shape.has_value() != b.shape.has_value())
    return false;
  if (!a.shape.has_value()) return true;
  if (a.shape->size() != b.shape->size()) return false;
  for (std::size_t i = 0; i < a.shape->size(); ++i) {
    if ((*a.shape)[i].value != (*b.shape)[i].value ||
        (*a.shape)[i].name != (*b.shape)[i].name)
      return false;
  }
  return true;
}

}  // namespace

FaultSites WiringSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  Earlier earlier;  // views of what outlives it
  const std::vector<ValueInfo> inputs = model.graph.RequiredInputs();
  for (const ValueInfo& input : inputs)
    earlier[facts.ShapeClassOf(input.name)].push_back(input.name);
  std::vector<bool> is_target(model.graph.nodes.size(), false);
  for (const std::size_t index : facts.data_nodes()) is_target[index] = true;
  for (std::size_t index = 0; index < model.graph.nodes.size(); ++index) {
    const Node& node = model.graph.nodes[index];
    if (is_target[index]) {
      AddSwaps(node, index, facts, sites);
      AddOtherValues(node, index, facts, earlier, sites);
    }
    for (const std::string& output : node.outputs) {
      if (facts.IsFloat(output) && facts.IsData(output) &&
          !PassesThrough(model.graph, facts, output))
        earlier[facts.ShapeClassOf(output)].push_back(output);
    }
  }
  return sites;
}

FaultSites DtypeSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  for (const std::size_t index : facts.data_nodes()) {
    const Node& node = model.graph.nodes[index];
    const std::string& value = node.outputs[0];
    const std::optional<DType> own = facts.TypeOf(value);
    if ((own != DType::kFloat32 && own != DType::kFloat64) || IsWhole(node))
      continue;
    for (const DType type : {DType::kFloat16, DType::kInt32}) {
      sites[std::format("through {}", Name(type))].push_back(
          CastSite(index, value, *own, type));
    }
  }
  return sites;
}

FaultSites OutputOrderSites(const Model& model, const GraphFacts& facts) {
  FaultSites sites;
  const std::vector<ValueInfo>& outputs = model.graph.outputs;
  for (std::size_t a = 0; a < outputs.size(); ++a) {
    for (std::size_t b = a + 1; b < outputs.size(); ++b) {
      const auto producer = facts.ProducerOf(outputs[a].name);
      if (!SameType(outputs[a], outputs[b]) || !producer.has_value() ||
          !facts.ProducerOf(outputs[b].name).has_value() ||
          HasSubgraphs(model.graph))
        continue;
      sites["exchanged"].push_back(
          {.node = *producer,
           .value = outputs[a].name,
           .plant = [first = outputs[a].name, second = outputs[b].name](
                        PlantedFault& fault, const SplitMixStream&) {
             Graph& graph = fault.model.graph;
             RenameValues(graph, [&](const std::string& name) {
               if (name == first) return second;
               return name == second ? first : name;
             });
             // The outputs are listed as before.
             for (ValueInfo& output : graph.outputs) {
               if (output.name == first) {
                 output.name = second;
               } else if (output.name == second) {
                 output.name = first;
               }
             }
             fault.description =
                 std::format("outputs '{}' and '{}' exchanged", first, second);
             return true;
           }});
    }
  }
  return sites;
}

}  // namespace parity
