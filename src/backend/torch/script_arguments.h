// Which input goes to which argument of a TorchScript method.
#ifndef PARITY_BACKEND_TORCH_SCRIPT_ARGUMENTS_H_
#define PARITY_BACKEND_TORCH_SCRIPT_ARGUMENTS_H_

#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>

#include <optional>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Without self.
[[nodiscard]] std::vector<std::string> ScriptInputNames(
    const torch::jit::Method& method);

// By name when every input bears the name of an argument; otherwise by
// position. Arguments that have a default may be left out. Floating inputs are
// converted to `precision` when given; inputs of one element serve arguments of
// type int, float and bool. Errors: kIncompatible naming the inputs that are
// missing or too many; kUnsupported for arguments that no tensor can be.
[[nodiscard]] Result<std::vector<c10::IValue>> MatchScriptArguments(
    const torch::jit::Method& method, const NamedTensors& inputs,
    std::optional<c10::ScalarType> precision);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_SCRIPT_ARGUMENTS_H_
