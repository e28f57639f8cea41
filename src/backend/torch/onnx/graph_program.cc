#include "backend/torch/onnx/graph_program.h"

#include <algorithm>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/torch/onnx/graph_schedule.h"
#include "backend/torch/onnx/operator_table.h"
#include "graph/model.h"
#include "graph/subgraphs.h"

namespace parity {
namespace {

std::string_view Domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

std::string FunctionKey(std::string_view domain, std::string_view name,
                        std::string_view overload) {
  return std::format("{}\n{}\n{}", Domain(domain), name, overload);
}

Body MakeBody(GraphIndex index) {
  const std::unordered_set<std::string_view> given(index.inputs.begin(),
                                                   index.inputs.end());
  Schedule schedule = MakeSchedule(index, index.outputs, given);
  return {.index = std::move(index), .schedule = std::move(schedule)};
}

}  // namespace

std::string OperatorName(const Node& node) {
  const std::string_view domain = Domain(node.domain);
  return domain.empty() ? node.op_type
                        : std::format("{}.{}", domain, node.op_type);
}

GraphProgram::GraphProgram(Model model) : model_(std::move(model)) {
  main_.emplace(model_.graph);
  AddSubgraphs(model_.graph.nodes);
  for (const Function& function : model_.functions) {
    functions_.emplace(
        FunctionKey(function.domain, function.name, function.overload),
        &function);
    bodies_.emplace(&function, MakeBody(GraphIndex(function)));
    AddSubgraphs(function.nodes);
  }
}

void GraphProgram::AddSubgraphs(std::span<const Node> nodes) {
  for (const Node& node : nodes) {
    for (const Graph* graph : Subgraphs(node)) {
      bodies_.emplace(graph, MakeBody(GraphIndex(*graph)));
      AddSubgraphs(graph->nodes);
    }
  }
}

std::int64_t GraphProgram::OpsetOf(const Function& function) const {
  for (const OpsetImport& import : function.opset_imports) {
    if (Domain(import.domain).empty()) return import.version;
  }
  return opset();
}

const Function* GraphProgram::FunctionOf(const Node& node) const {
  if (functions_.empty()) return nullptr;
  const auto found =
      functions_.find(FunctionKey(node.domain, node.op_type, node.overload));
  return found != functions_.end() ? found->second : nullptr;
}

const Body& GraphProgram::BodyOf(const Graph& graph) const {
  return bodies_.at(&graph);
}

const Body& GraphProgram::BodyOf(const Function& function) const {
  return bodies_.at(&function);
}

std::vector<std::string> GraphProgram::UnknownOperators() const {
  std::vector<std::string> unknown;
  std::unordered_set<const Function*> seen;
  AddUnknown(model_.graph.nodes, seen, unknown);
  std::ranges::sort(unknown);
  const auto repeated = std::ranges::unique(unknown);
  unknown.erase(repeated.begin(), repeated.end());
  return unknown;
}

void GraphProgram::AddUnknown(std::span<const Node> nodes,
                              std::unordered_set<const Function*>& seen,
                              std::vector<std::string>& unknown) const {
  for (const Node& node : nodes) {
    if (const Function* function = FunctionOf(node)) {
      if (seen.insert(function).second)
        AddUnknown(function->nodes, seen, unknown);
    } else if (std::string name = OperatorName(node);
               !Operators().contains(name)) {
      unknown.push_back(std::move(name));
    }
    for (const Graph* graph : Subgraphs(node))
      AddUnknown(graph->nodes, seen, unknown);
  }
}

}  // namespace parity
