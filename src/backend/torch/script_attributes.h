// Attributes of a TorchScript module, set from text.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_ATTRIBUTES_H_
#define PARITY_BACKEND_TORCH_SCRIPT_ATTRIBUTES_H_

#include <torch/csrc/jit/api/module.h>

#include <string>

#include "parity/error.h"

namespace parity {

// `path` is dotted: "refiner.mode". Attributes of type str, int, float, bool
// and the Optional of these can be set ("none" clears an Optional). The path
// "training" switches the whole module. Errors: kNotFound listing the
// attributes there are; kInvalidArgument for text that is not of the
// attribute's type; kUnsupported for attributes of other types and for
// constants, which are part of the code.
[[nodiscard]] Status SetScriptAttribute(torch::jit::Module& module,
                                        const std::string& path,
                                        const std::string& value);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_ATTRIBUTES_H_
