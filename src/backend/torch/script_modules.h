// Which module of a TorchScript program is running.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_MODULES_H_
#define PARITY_BACKEND_TORCH_SCRIPT_MODULES_H_

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <string>
#include <unordered_map>

namespace parity {

// The interpreter's stack names each call by its place in the code alone; here
// every place that calls a method of a submodule is known beforehand.
class ScriptModules {
 public:
  explicit ScriptModules(const torch::jit::Module& root);

  // Dotted path of the module whose method this thread is in; "" for the root
  // and outside of scripts. Where a module was picked at run time its name is
  // missing in the path.
  [[nodiscard]] std::string Current() const;

 private:
  // From the place of a call to the callee's path, seen from the caller.
  std::unordered_map<torch::jit::SourceRange, std::string,
                     torch::jit::SourceRangeHasher>
      calls_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_MODULES_H_
