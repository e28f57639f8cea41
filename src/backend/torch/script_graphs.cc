#include "backend/torch/script_graphs.h"

#include <ATen/core/class_type.h>
#include <ATen/core/function.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <functional>
#include <unordered_set>
#include <vector>

namespace parity {
namespace {

class GraphWalk {
 public:
  explicit GraphWalk(const std::function<void(torch::jit::Node&)>& visit)
      : visit_(visit) {}

  void Enter(torch::jit::Function* function) {
    torch::jit::GraphFunction* const graph =
        function == nullptr ? nullptr
                            : torch::jit::tryToGraphFunction(*function);
    if (graph != nullptr && seen_.insert(graph).second)
      waiting_.push_back(graph);
  }

  void Finish() {
    while (!waiting_.empty()) {
      torch::jit::GraphFunction* const function = waiting_.back();
      waiting_.pop_back();
      Visit(*function->graph()->block());
    }
  }

 private:
  void Visit(torch::jit::Block& block) {
    for (torch::jit::Node* const node : block.nodes()) {
      if (node->kind() == c10::prim::CallFunction)
        Enter(torch::jit::tryToGraphFunction(node));
      visit_(*node);
      for (torch::jit::Block* const inner : node->blocks()) Visit(*inner);
    }
  }

  const std::function<void(torch::jit::Node&)>& visit_;
  std::unordered_set<torch::jit::GraphFunction*> seen_;
  std::vector<torch::jit::GraphFunction*> waiting_;
};

}  // namespace

void ForEachScriptNode(const torch::jit::Module& root,
                       const std::function<void(torch::jit::Node&)>& visit) {
  GraphWalk walk(visit);
  for (const torch::jit::Module& module : root.modules()) {
    for (torch::jit::Function* const method : module.type()->methods())
      walk.Enter(method);
  }
  walk.Finish();
}

}  // namespace parity
