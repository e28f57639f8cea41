#include "backend/torch/script_arguments.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/run_trace.h"
#include "backend/torch/tensor_bridge.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// forward's arguments but self. The schema must outlive it.
std::span<const c10::Argument> ArgumentsOf(const c10::FunctionSchema& schema) {
  return std::span<const c10::Argument>(schema.arguments()).subspan(1);
}

// The input of every argument, null where its default serves.
using Assignment = std::vector<const NamedTensor*>;

std::string NameList(std::span<const c10::Argument> arguments,
                     const Assignment& assignment, bool missing_only) {
  std::string list;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (missing_only &&
        (assignment[i] != nullptr || arguments[i].default_value()))
      continue;
    list +=
        std::format("{}'{}'", list.empty() ? "" : ", ", arguments[i].name());
  }
  return list;
}

bool AllNamed(std::span<const c10::Argument> arguments,
              const NamedTensors& inputs) {
  return std::ranges::all_of(inputs, [&](const NamedTensor& input) {
    return std::ranges::contains(arguments, input.name, &c10::Argument::name);
  });
}

Result<Assignment> Assign(std::span<const c10::Argument> arguments,
                          const NamedTensors& inputs) {
  Assignment assignment(arguments.size(), nullptr);
  if (AllNamed(arguments, inputs)) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto found =
          std::ranges::find(inputs, arguments[i].name(), &NamedTensor::name);
      if (found != inputs.end()) assignment[i] = &*found;
    }
  } else if (inputs.size() > arguments.size()) {
    return Fail(ErrorCode::kIncompatible,
                std::format("{} inputs are given, but the TorchScript module "
                            "takes {}: {}",
                            inputs.size(), arguments.size(),
                            NameList(arguments, assignment, false)));
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i) assignment[i] = &inputs[i];
  }
  const std::string missing = NameList(arguments, assignment, true);
  if (!missing.empty()) {
    return Fail(ErrorCode::kIncompatible,
                std::format("no input is given for {} of the TorchScript "
                            "module, which takes {}",
                            missing, NameList(arguments, assignment, false)));
  }
  return assignment;
}

Result<c10::IValue> ValueFor(const c10::Argument& argument,
                             const NamedTensor& input,
                             std::optional<c10::ScalarType> precision) {
  const TracePause pause;
  PARITY_ASSIGN_OR_RETURN(at::Tensor tensor, TorchFromParity(input.tensor));
  if (precision && tensor.is_floating_point()) tensor = tensor.to(*precision);
  c10::TypePtr type = argument.type();
  if (const auto optional = type->cast<c10::OptionalType>())
    type = optional->getElementType();
  if (type->isSubtypeOf(*c10::TensorType::get()) ||
      type->kind() == c10::TypeKind::AnyType)
    return c10::IValue(std::move(tensor));
  if (tensor.numel() == 1) {
    switch (type->kind()) {
      case c10::TypeKind::IntType:
        return c10::IValue(tensor.item<std::int64_t>());
      case c10::TypeKind::FloatType:
        return c10::IValue(tensor.item<double>());
      case c10::TypeKind::BoolType:
        return c10::IValue(tensor.item<bool>());
      default:
        break;
    }
  }
  return Fail(
      ErrorCode::kUnsupported,
      std::format("argument '{}' of the TorchScript module is of type {}, "
                  "which the tensor '{}' ({}) cannot be",
                  argument.name(), argument.type()->annotation_str(),
                  input.name, ToString(input.tensor.shape())));
}

}  // namespace

std::vector<std::string> ScriptInputNames(const torch::jit::Method& method) {
  std::vector<std::string> names;
  for (const c10::Argument& argument :
       ArgumentsOf(method.function().getSchema()))
    names.push_back(argument.name());
  return names;
}

Result<std::vector<c10::IValue>> MatchScriptArguments(
    const torch::jit::Method& method, const NamedTensors& inputs,
    std::optional<c10::ScalarType> precision) {
  const std::span<const c10::Argument> arguments =
      ArgumentsOf(method.function().getSchema());
  PARITY_ASSIGN_OR_RETURN(const Assignment assignment,
                          Assign(arguments, inputs));
  std::vector<c10::IValue> values;
  values.reserve(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (assignment[i] == nullptr) {
      // Assign() has seen that there is one.
      values.push_back(arguments[i].default_value().value_or(c10::IValue()));
      continue;
    }
    PARITY_ASSIGN_OR_RETURN(values.emplace_back(),
                            ValueFor(arguments[i], *assignment[i], precision));
  }
  return values;
}

}  // namespace parity
