// The tensors in what a TorchScript method returns.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_OUTPUTS_H_
#define PARITY_BACKEND_TORCH_SCRIPT_OUTPUTS_H_

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>

#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// The fields of a named tuple; empty for every other type.
[[nodiscard]] std::vector<std::string> ScriptFieldNames(const c10::Type& type);

// Tensors and numbers inside tuples, lists and dictionaries, depth first. Keys
// of dictionaries and fields of named tuples are names, joined by dots where
// they are nested; everything else is "output_<position>". None is left out.
// Errors: kUnsupported for values that are no tensors (texts, objects), and for
// tensors that cannot be shared; kIncompatible when nothing is returned.
[[nodiscard]] Result<NamedTensors> FlattenScriptOutputs(
    const c10::IValue& returned);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_OUTPUTS_H_
