#include "backend/torch/script_modules.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <format>
#include <string>

#include "backend/torch/script_graphs.h"

namespace parity {
namespace {

// "layers.0" where `value` is self.layers.0; "" for self itself, and for what
// cannot be told from the code.
std::string PathOf(const torch::jit::Value* value) {
  std::string path;
  while (value->node()->kind() == c10::prim::GetAttr) {
    const std::string& name = value->node()->s(c10::attr::name);
    path = path.empty() ? name : std::format("{}.{}", name, path);
    value = value->node()->input(0);
  }
  return path;
}

}  // namespace

ScriptModules::ScriptModules(const torch::jit::Module& root) {
  ForEachScriptNode(root, [this](torch::jit::Node& node) {
    if (node.kind() == c10::prim::CallMethod)
      calls_.emplace(node.sourceRange(), PathOf(node.input(0)));
  });
}

std::string ScriptModules::Current() const {
  std::string path;
  // The innermost call comes first.
  for (const torch::jit::StackEntry& entry : torch::jit::currentCallstack()) {
    const auto call = calls_.find(entry.range);
    if (call == calls_.end() || call->second.empty()) continue;
    path =
        path.empty() ? call->second : std::format("{}.{}", call->second, path);
  }
  return path;
}

}  // namespace parity
