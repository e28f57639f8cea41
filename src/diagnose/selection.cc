#include "diagnose/selection.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/half.h"
#include "diagnose/selection_kinds.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::string_view kComparisons[] = {
    "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal"};
constexpr std::string_view kSteps[] = {"Round", "Floor", "Ceil", "Sign"};
constexpr std::string_view kOthers[] = {
    "TopK", "ArgMax", "ArgMin", "Hardmax", "NonZero", "NonMaxSuppression"};

// TensorProto.DataType
constexpr std::int64_t kOnnxBool = 9;
constexpr std::int64_t kOnnxIntegers[] = {2, 3, 4, 5, 6, 7, 12, 13, 21, 22};

bool IsDiscrete(std::int64_t onnx_type) {
  return onnx_type == kOnnxBool ||
         std::ranges::contains(kOnnxIntegers, onnx_type);
}

template <class Number, class T, class Widen>
std::vector<Number> Widened(const Tensor& tensor, Widen widen) {
  std::vector<Number> numbers;
  numbers.reserve(static_cast<std::size_t>(tensor.element_count()));
  for (const T value : tensor.As<T>())
    numbers.push_back(static_cast<Number>(widen(value)));
  return numbers;
}

template <class Number, class T>
std::vector<Number> Widened(const Tensor& tensor) {
  return Widened<Number, T>(tensor, [](T value) { return value; });
}

template <class Number>
std::vector<Number> WidenedIntegers(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kInt8:
      return Widened<Number, std::int8_t>(tensor);
    case DType::kInt16:
      return Widened<Number, std::int16_t>(tensor);
    case DType::kInt32:
      return Widened<Number, std::int32_t>(tensor);
    case DType::kInt64:
      return Widened<Number, std::int64_t>(tensor);
    case DType::kUInt8:
      return Widened<Number, std::uint8_t>(tensor);
    case DType::kUInt16:
      return Widened<Number, std::uint16_t>(tensor);
    case DType::kUInt32:
      return Widened<Number, std::uint32_t>(tensor);
    case DType::kUInt64:
      return Widened<Number, std::uint64_t>(tensor);
    case DType::kBool:
      return Widened<Number, std::uint8_t>(
          tensor, [](std::uint8_t value) { return value == 0 ? 0 : 1; });
    default:
      return {};
  }
}

Flips CheckCast(const Node& node, const Tensor& scores, const Tensor& chosen) {
  const bool to_bool = IntegerAttributeOr(node, "to", 0) == kOnnxBool;
  if (!IsFloating(scores.dtype()))
    return CheckIntegerCast(to_bool, scores, chosen);
  return CheckSteps(to_bool ? "NotZero" : "Truncate", scores, chosen);
}

Flips FindFlips(const Node& node, const std::vector<Tensor>& inputs,
                const std::vector<Tensor>& chosen) {
  const std::string_view op = node.op_type;
  const std::size_t wanted_inputs =
      std::ranges::contains(kComparisons, op) || op == "NonMaxSuppression" ? 2
                                                                           : 1;
  const std::size_t wanted_outputs = op == "TopK" ? 2 : 1;
  if (inputs.size() < wanted_inputs || chosen.size() < wanted_outputs)
    return AllWrong(1);
  const Tensor& scores = inputs[0];
  if (std::ranges::contains(kComparisons, op))
    return CheckComparison(op, scores, inputs[1], chosen[0]);
  if (std::ranges::contains(kSteps, op))
    return CheckSteps(op, scores, chosen[0]);
  if (op == "Cast") return CheckCast(node, scores, chosen[0]);
  if (op == "TopK") {
    return CheckTopK(scores, chosen[1], IntegerAttributeOr(node, "axis", -1),
                     IntegerAttributeOr(node, "largest", 1) != 0,
                     IntegerAttributeOr(node, "sorted", 1) != 0);
  }
  if (op == "ArgMax" || op == "ArgMin") {
    return CheckArgMax(scores, chosen[0], IntegerAttributeOr(node, "axis", 0),
                       op == "ArgMax",
                       IntegerAttributeOr(node, "select_last_index", 0) != 0);
  }
  if (op == "Hardmax")
    return CheckHardmax(scores, chosen[0],
                        IntegerAttributeOr(node, "axis", -1));
  if (op == "NonZero") return CheckNonZero(scores, chosen[0]);
  return CheckNonMaxSuppression(node, inputs, chosen[0]);
}

}  // namespace

std::vector<double> ElementsAsDoubles(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::kFloat16:
      return Widened<double, std::uint16_t>(tensor, FloatFromHalf);
    case DType::kBFloat16:
      return Widened<double, std::uint16_t>(tensor, FloatFromBFloat16);
    case DType::kFloat32:
      return Widened<double, float>(tensor);
    case DType::kFloat64:
      return Widened<double, double>(tensor);
    default:
      return WidenedIntegers<double>(tensor);
  }
}

std::vector<std::int64_t> ElementsAsIntegers(const Tensor& tensor) {
  return WidenedIntegers<std::int64_t>(tensor);
}

std::int64_t IntegerAttributeOr(const Node& node, std::string_view name,
                                std::int64_t otherwise) {
  const AttributeValue* const value = node.FindAttribute(name);
  if (value == nullptr) return otherwise;
  const auto* const integer = std::get_if<std::int64_t>(value);
  return integer == nullptr ? otherwise : *integer;
}

bool IsSelection(const Node& node) {
  if (!node.domain.empty() && node.domain != "ai.onnx") return false;
  if (node.op_type == "Cast")
    return IsDiscrete(IntegerAttributeOr(node, "to", 0));
  return std::ranges::contains(kComparisons, node.op_type) ||
         std::ranges::contains(kSteps, node.op_type) ||
         std::ranges::contains(kOthers, node.op_type);
}

SelectionCheck CheckSelection(const Node& node,
                              const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& chosen,
                              double score_noise) {
  const Flips flips = FindFlips(node, inputs, chosen);
  const bool exact = inputs.empty() || !IsFloating(inputs[0].dtype());
  return {.flipped = flips.count,
          .gap = flips.gap,
          .is_tie = flips.count > 0 && flips.gap <= score_noise && !exact};
}

}  // namespace parity
