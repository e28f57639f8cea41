#include "graph/graph_checks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "graph/model.h"
#include "graph/subgraphs.h"
#include "parity/error.h"

namespace parity {
namespace {

using Names = std::unordered_set<std::string_view>;

std::string Label(const Node& node, std::size_t index) {
  if (!node.name.empty()) return std::format("node '{}'", node.name);
  return std::format("node {} (unnamed, {})", index,
                     node.op_type.empty() ? "no op_type" : node.op_type);
}

// Walks graphs with the names defined so far: one set for each graph around the
// current node, the innermost last.
class StructureWalk {
 public:
  explicit StructureWalk(std::size_t limit) : limit_(limit) {}

  // `where` is "" for the outermost graph, else ends in ": ".
  void VisitGraph(const Graph& graph, const std::string& where) {
    scopes_.emplace_back();
    std::vector<std::string_view> outputs;
    outputs.reserve(graph.outputs.size());
    for (const ValueInfo& output : graph.outputs)
      outputs.push_back(output.name);
    DefineInputs(graph, where);
    VisitNodes(graph.nodes, where);
    CheckOutputs(outputs, where);
    scopes_.pop_back();
  }

  void VisitFunction(const Function& function) {
    const std::string where = std::format("function '{}': ", function.name);
    scopes_.emplace_back();
    for (const std::string& input : function.inputs)
      Define(input, where + "the function's inputs");
    VisitNodes(function.nodes, where);
    CheckOutputs({function.outputs.begin(), function.outputs.end()}, where);
    scopes_.pop_back();
  }

  [[nodiscard]] std::vector<std::string> TakeProblems() && {
    return std::move(problems_);
  }

 private:
  void Report(std::string_view problem) {
    if (problems_.size() < limit_) problems_.push_back(Printable(problem));
  }

  void Define(std::string_view name, const std::string& by) {
    if (!scopes_.back().insert(name).second) {
      Report(std::format("{}: value '{}' is already defined", by, name));
    }
  }

  void DefineInputs(const Graph& graph, const std::string& where) {
    for (const ValueInfo& input : graph.inputs)
      Define(input.name, where + "the graph's inputs");
    Names initializers;
    for (const Initializer& initializer : graph.initializers) {
      if (!initializers.insert(initializer.name).second) {
        Report(std::format("{}initializer '{}' occurs twice", where,
                           initializer.name));
      }
    }
    // An initializer may have the name of an input, whose default it is.
    scopes_.back().merge(initializers);
  }

  void VisitNodes(const std::vector<Node>& nodes, const std::string& where) {
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const Node& node = nodes[index];
      const std::string label = where + Label(node, index);
      if (node.op_type.empty()) Report(label + ": has no op_type");
      for (const std::string& input : node.inputs) {
        if (!input.empty() && !IsVisible(input))
          ReportUndefined(input, nodes, label);
      }
      for (const Graph* const graph : Subgraphs(node)) {
        VisitGraph(*graph, std::format("{}: graph '{}': ", label, graph->name));
      }
      for (const std::string& output : node.outputs) {
        if (!output.empty()) Define(output, label);
      }
    }
  }

  void ReportUndefined(std::string_view input, const std::vector<Node>& nodes,
                       const std::string& label) {
    if (problems_.size() >= limit_) return;  // spares the search below
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      if (std::ranges::contains(nodes[index].outputs, input)) {
        Report(std::format("{}: input '{}' is used before {} defines it", label,
                           input, Label(nodes[index], index)));
        return;
      }
    }
    Report(std::format("{}: input '{}' is defined nowhere", label, input));
  }

  void CheckOutputs(const std::vector<std::string_view>& outputs,
                    const std::string& where) {
    if (outputs.empty()) Report(where + "the graph has no outputs");
    Names seen;
    for (const std::string_view output : outputs) {
      if (!IsVisible(output))
        Report(std::format("{}output '{}' is defined nowhere", where, output));
      if (!seen.insert(output).second)
        Report(std::format("{}output '{}' is listed twice", where, output));
    }
  }

  [[nodiscard]] bool IsVisible(std::string_view name) const {
    return std::ranges::any_of(
        std::views::reverse(scopes_),
        [&](const Names& names) { return names.contains(name); });
  }

  std::size_t limit_;
  std::vector<Names> scopes_;
  std::vector<std::string> problems_;
};

void CountOps(const Graph& graph, std::map<std::string, std::int64_t>& counts) {
  for (const Node& node : graph.nodes) {
    const bool is_onnx = node.domain.empty() || node.domain == "ai.onnx";
    ++counts[is_onnx ? node.op_type
                     : std::format("{}.{}", node.domain, node.op_type)];
    for (const Graph* const subgraph : Subgraphs(node))
      CountOps(*subgraph, counts);
  }
}

}  // namespace

std::vector<std::string> StructureProblems(const Model& model,
                                           std::size_t limit) {
  StructureWalk walk(limit);
  walk.VisitGraph(model.graph, "");
  for (const Function& function : model.functions) walk.VisitFunction(function);
  return std::move(walk).TakeProblems();
}

Status CheckStructure(const Model& model) {
  constexpr std::size_t kLimit = 100;
  std::vector<std::string> problems = StructureProblems(model, kLimit);
  if (problems.empty()) return {};
  std::string message = std::move(problems.front());
  if (problems.size() > 1) {
    message += std::format(" (and {}{} more)",
                           problems.size() == kLimit ? "at least " : "",
                           problems.size() - 1);
  }
  return Fail(ErrorCode::kCorrupt, std::move(message));
}

std::map<std::string, std::int64_t> OpHistogram(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  CountOps(graph, counts);
  return counts;
}

}  // namespace parity
