// A model prepared for evaluation: its graphs and functions indexed once.
#ifndef PARITY_BACKEND_TORCH_ONNX_GRAPH_PROGRAM_H_
#define PARITY_BACKEND_TORCH_ONNX_GRAPH_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/torch/onnx/graph_schedule.h"
#include "graph/model.h"

namespace parity {

// "Conv", "com.microsoft.FusedConv"; the default domain has no name.
[[nodiscard]] std::string OperatorName(const Node& node);

// A subgraph or a function's body, which is always evaluated as a whole.
struct Body {
  GraphIndex index;
  Schedule schedule;
};

class GraphProgram {
 public:
  explicit GraphProgram(Model model);
  GraphProgram(const GraphProgram&) = delete;
  GraphProgram& operator=(const GraphProgram&) = delete;

  [[nodiscard]] const GraphIndex& main() const { return *main_; }
  [[nodiscard]] std::int64_t opset() const { return model_.opset_version(); }
  // Of the default domain, in the body of a function.
  [[nodiscard]] std::int64_t OpsetOf(const Function& function) const;

  // Null when the node calls no function of the model.
  [[nodiscard]] const Function* FunctionOf(const Node& node) const;
  [[nodiscard]] const Body& BodyOf(const Graph& graph) const;
  [[nodiscard]] const Body& BodyOf(const Function& function) const;

  // Sorted.
  [[nodiscard]] std::vector<std::string> UnknownOperators() const;

 private:
  void AddSubgraphs(std::span<const Node> nodes);
  void AddUnknown(std::span<const Node> nodes,
                  std::unordered_set<const Function*>& seen,
                  std::vector<std::string>& unknown) const;

  const Model model_;
  std::optional<GraphIndex> main_;
  // By address of the Graph or Function.
  std::unordered_map<const void*, Body> bodies_;
  std::unordered_map<std::string, const Function*> functions_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_GRAPH_PROGRAM_H_
