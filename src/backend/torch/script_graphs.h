// The code of a TorchScript module as graphs.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_GRAPHS_H_
#define PARITY_BACKEND_TORCH_SCRIPT_GRAPHS_H_

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <functional>

namespace parity {

// Calls `visit` with every node of every method of the module and its
// submodules, and of the functions they call, each once: also those inside
// branches and loops. `visit` may change the node and insert others before it.
void ForEachScriptNode(const torch::jit::Module& root,
                       const std::function<void(torch::jit::Node&)>& visit);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_GRAPHS_H_
