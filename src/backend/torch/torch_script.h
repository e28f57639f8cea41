// A TorchScript archive: loading, attributes, argument matching, outputs.
#ifndef PARITY_BACKEND_TORCH_TORCH_SCRIPT_H_
#define PARITY_BACKEND_TORCH_TORCH_SCRIPT_H_

#include <c10/core/ScalarType.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Everything that includes <torch/script.h> is behind this class. Throws what
// libtorch throws.
class TorchScript {
 public:
  // Errors: those of reading `path`; kCorrupt when it is another kind of file,
  // saying which and what takes it.
  [[nodiscard]] static Result<TorchScript> Open(const std::string& path);

  TorchScript(TorchScript&&) noexcept;
  TorchScript& operator=(TorchScript&&) noexcept;
  ~TorchScript();

  // Sets the attribute at a dotted path from text. "training" = true or false
  // switches the whole module. Errors: kNotFound listing the attributes there
  // are; kInvalidArgument for text that is not of the attribute's type.
  [[nodiscard]] Status SetAttribute(const std::string& path,
                                    const std::string& value);
  // Computes in `type` from now on, see script_precision.h; floating inputs
  // become it, too. Before the first run.
  void Convert(c10::ScalarType type);

  // Of forward, in order.
  [[nodiscard]] std::vector<std::string> InputNames() const;
  // Of forward's named tuple; empty when only a run tells.
  [[nodiscard]] std::vector<std::string> OutputNames() const;
  // Lines for the user: a module in training mode whose layers behave
  // differently there.
  [[nodiscard]] std::vector<std::string> Notes() const;

  // Tells the module that a run is in, from inside the run; see
  // script_modules.h. It may outlive this object.
  [[nodiscard]] std::function<std::string()> ModuleLocator() const;

  // Errors: kIncompatible naming the inputs that are missing or too many.
  [[nodiscard]] Result<NamedTensors> Run(const NamedTensors& inputs);

 private:
  struct Contents;
  explicit TorchScript(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_TORCH_SCRIPT_H_
