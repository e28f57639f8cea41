#include "backend/torch/onnx/operator_context.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/torch/tensor_bridge.h"
#include "formats/onnx/onnx_dtype.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// Null when there is none.
template <class T>
const T* Find(const Node& node, std::string_view name) {
  const AttributeValue* value = node.FindAttribute(name);
  if (value == nullptr) return nullptr;
  if (const T* found = std::get_if<T>(value)) return found;
  if (const auto* encoded = std::get_if<EncodedAttribute>(value)) {
    throw OperatorError(
        std::format("attribute '{}' is a {}, which cannot be "
                    "evaluated",
                    name, encoded->kind));
  }
  throw OperatorError(std::format("attribute '{}' has the wrong type", name));
}

[[noreturn]] void ThrowMissing(std::string_view name) {
  throw OperatorError(std::format("there is no attribute '{}'", name));
}

template <class To, class From>
std::vector<To> Elements(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const auto* data = flat.const_data_ptr<From>();
  return std::vector<To>(data, data + flat.numel());
}

}  // namespace

const at::Tensor& OperatorContext::Input(std::size_t index) const {
  if (!HasInput(index))
    throw OperatorError(std::format("input {} is missing", index));
  return inputs_[index];
}

at::Tensor OperatorContext::OptionalInput(std::size_t index) const {
  return HasInput(index) ? inputs_[index] : at::Tensor();
}

std::vector<std::int64_t> OperatorContext::IntegersInput(
    std::size_t index) const {
  const at::Tensor& input = Input(index);
  if (!c10::isIntegralType(input.scalar_type(), /*includeBool=*/false)) {
    throw OperatorError(std::format("input {} must hold integers, not {}",
                                    index, c10::toString(input.scalar_type())));
  }
  return Elements<std::int64_t, std::int64_t>(input.to(c10::ScalarType::Long));
}

std::vector<double> OperatorContext::FloatsInput(std::size_t index) const {
  const at::Tensor& input = Input(index);
  if (!c10::isFloatingType(input.scalar_type())) {
    throw OperatorError(
        std::format("input {} must hold floating values, not "
                    "{}",
                    index, c10::toString(input.scalar_type())));
  }
  return Elements<double, double>(input.to(c10::ScalarType::Double));
}

bool OperatorContext::HasAttribute(std::string_view name) const {
  return node_.FindAttribute(name) != nullptr;
}

std::int64_t OperatorContext::Integer(std::string_view name) const {
  const auto* value = Find<std::int64_t>(node_, name);
  if (value == nullptr) ThrowMissing(name);
  return *value;
}

std::int64_t OperatorContext::Integer(std::string_view name,
                                      std::int64_t otherwise) const {
  const auto* value = Find<std::int64_t>(node_, name);
  return value != nullptr ? *value : otherwise;
}

double OperatorContext::Float(std::string_view name, double otherwise) const {
  const auto* value = Find<float>(node_, name);
  return value != nullptr ? *value : otherwise;
}

std::string OperatorContext::String(std::string_view name,
                                    std::string_view otherwise) const {
  const auto* value = Find<std::string>(node_, name);
  return value != nullptr ? *value : std::string(otherwise);
}

std::vector<std::int64_t> OperatorContext::Integers(
    std::string_view name) const {
  const auto* value = Find<std::vector<std::int64_t>>(node_, name);
  return value != nullptr ? *value : std::vector<std::int64_t>();
}

std::vector<double> OperatorContext::Floats(std::string_view name) const {
  const auto* value = Find<std::vector<float>>(node_, name);
  if (value == nullptr) return {};
  return {value->begin(), value->end()};
}

std::vector<std::string> OperatorContext::Strings(std::string_view name) const {
  const auto* value = Find<std::vector<std::string>>(node_, name);
  return value != nullptr ? *value : std::vector<std::string>();
}

at::Tensor OperatorContext::TensorAttribute(std::string_view name) const {
  const auto* value = Find<Tensor>(node_, name);
  if (value == nullptr) ThrowMissing(name);
  Result<at::Tensor> tensor = TorchFromParity(*value);
  if (!tensor) {
    throw OperatorError(
        std::format("attribute '{}': {}", name, tensor.error().message));
  }
  return Held(*tensor);
}

const Graph& OperatorContext::GraphAttribute(std::string_view name) const {
  const auto* value = Find<std::shared_ptr<Graph>>(node_, name);
  if (value == nullptr || *value == nullptr) ThrowMissing(name);
  return **value;
}

std::int64_t OperatorContext::Axis(std::int64_t axis, std::int64_t rank) {
  // A scalar has the axes 0 and -1, as in NumPy and libtorch.
  const std::int64_t axes = std::max<std::int64_t>(rank, 1);
  if (axis < -axes || axis >= axes) {
    throw OperatorError(
        std::format("axis {} does not exist in rank {}", axis, rank));
  }
  return axis < 0 ? axis + axes : axis;
}

c10::ScalarType OperatorContext::HeldType(std::int64_t onnx_type) const {
  const auto number = static_cast<std::int32_t>(std::clamp<std::int64_t>(
      onnx_type, 0, std::numeric_limits<std::int32_t>::max()));
  const std::optional<DType> dtype = onnx::DTypeFromNumber(number);
  const std::optional<c10::ScalarType> type =
      dtype ? TorchDType(*dtype) : std::nullopt;
  if (!type) {
    throw OperatorError(std::format("values of type {} cannot be evaluated",
                                    onnx::NumberName(number)));
  }
  return floating_ && c10::isFloatingType(*type) ? *floating_ : *type;
}

at::Tensor OperatorContext::Held(const at::Tensor& tensor) const {
  return floating_ && c10::isFloatingType(tensor.scalar_type())
             ? tensor.to(*floating_)
             : tensor;
}

}  // namespace parity
