#include "backend/torch/script_outputs.h"

#include <ATen/core/Dict.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/scalar_tensor.h>

#include <cstddef>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/tensor_bridge.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

class Flattener {
 public:
  // `name` is empty where nothing names the value.
  Status Add(const c10::IValue& value, const std::string& name) {
    if (value.isNone()) return {};
    if (value.isTensor()) {
      return value.toTensor().defined() ? AddTensor(value.toTensor(), name)
                                        : Status();
    }
    if (value.isScalar()) {
      const at::Scalar scalar = value.toScalar();
      return AddTensor(
          at::scalar_tensor(scalar, at::TensorOptions().dtype(scalar.type())),
          name);
    }
    if (value.isTuple()) {
      const auto& elements = value.toTupleRef().elements();
      const std::vector<std::string> fields = ScriptFieldNames(*value.type());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        PARITY_RETURN_IF_ERROR(Add(elements[i], fields.empty()
                                                    ? Element(name, i)
                                                    : Child(name, fields[i])));
      }
      return {};
    }
    if (value.isList()) {
      const c10::ArrayRef<c10::IValue> elements = value.toListRef();
      for (std::size_t i = 0; i < elements.size(); ++i)
        PARITY_RETURN_IF_ERROR(Add(elements[i], Element(name, i)));
      return {};
    }
    if (value.isGenericDict()) return AddDict(value, name);
    return Fail(ErrorCode::kUnsupported,
                std::format("the TorchScript module returns a value of type "
                            "{}, which is no tensor",
                            value.type()->annotation_str()));
  }

  [[nodiscard]] NamedTensors Take() && { return std::move(outputs_); }

 private:
  static std::string Child(const std::string& parent, const std::string& name) {
    return parent.empty() ? name : std::format("{}.{}", parent, name);
  }
  // Elements of an unnamed list stay unnamed.
  static std::string Element(const std::string& parent, std::size_t index) {
    return parent.empty() ? std::string() : std::format("{}.{}", parent, index);
  }

  Status AddDict(const c10::IValue& dict, const std::string& name) {
    for (const auto& entry : dict.toGenericDict()) {
      const c10::IValue& key = entry.key();
      const std::string text = key.isString() ? key.toStringRef()
                               : key.isInt()  ? std::to_string(key.toInt())
                                              : std::string();
      PARITY_RETURN_IF_ERROR(
          Add(entry.value(), text.empty() ? text : Child(name, text)));
    }
    return {};
  }

  Status AddTensor(const at::Tensor& tensor, std::string name) {
    // Names are unique: a second tensor of the same name goes by its position.
    if (name.empty() || FindTensor(outputs_, name) != nullptr)
      name = std::format("output_{}", outputs_.size());
    PARITY_ASSIGN_OR_RETURN(Tensor shared, ParityFromTorch(tensor, name));
    outputs_.push_back({.name = std::move(name), .tensor = std::move(shared)});
    return {};
  }

  NamedTensors outputs_;
};

}  // namespace

std::vector<std::string> ScriptFieldNames(const c10::Type& type) {
  std::vector<std::string> names;
  const auto tuple = type.cast<c10::TupleType>();
  if (tuple == nullptr || tuple->schema() == nullptr) return names;
  for (const c10::Argument& field : tuple->schema()->arguments())
    names.push_back(field.name());
  return names;
}

Result<NamedTensors> FlattenScriptOutputs(const c10::IValue& returned) {
  Flattener flattener;
  PARITY_RETURN_IF_ERROR(flattener.Add(returned, ""));
  NamedTensors outputs = std::move(flattener).Take();
  if (outputs.empty()) {
    return Fail(ErrorCode::kIncompatible,
                "the TorchScript module returns no tensor");
  }
  return outputs;
}

}  // namespace parity
