#include "graph_facts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "diagnose/value_standing.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// By number in TensorProto.DataType; complex types left out.
constexpr std::pair<std::int64_t, DType> kTypes[] = {
    {1, DType::kFloat32},  {2, DType::kUInt8},   {3, DType::kInt8},
    {4, DType::kUInt16},   {5, DType::kInt16},   {6, DType::kInt32},
    {7, DType::kInt64},    {9, DType::kBool},    {10, DType::kFloat16},
    {11, DType::kFloat64}, {12, DType::kUInt32}, {13, DType::kUInt64},
    {16, DType::kBFloat16}};

using Operators = std::unordered_set<std::string_view>;

bool IsOf(const Operators& operators, const Node& node) {
  return operators.contains(node.op_type);
}

const Operators& BooleanOperators() {
  static const Operators operators = {
      "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "Equal", "And", "Or",
      "Not",     "Xor",  "IsNaN",          "IsInf"};
  return operators;
}

const Operators& Int64Operators() {
  static const Operators operators = {"Shape",  "Size",   "NonZero",
                                      "ArgMax", "ArgMin", "NonMaxSuppression"};
  return operators;
}

// Whose output has the shape and type of the first input.
const Operators& UnaryOperators() {
  static const Operators operators = {"Relu",
                                      "Clip",
                                      "Sigmoid",
                                      "Tanh",
                                      "LeakyRelu",
                                      "Elu",
                                      "Selu",
                                      "HardSigmoid",
                                      "HardSwish",
                                      "Softplus",
                                      "Softsign",
                                      "Exp",
                                      "Neg",
                                      "Abs",
                                      "Erf",
                                      "Gelu",
                                      "Mish",
                                      "Identity",
                                      "Softmax",
                                      "LogSoftmax",
                                      "Sqrt",
                                      "Reciprocal",
                                      "Floor",
                                      "Ceil",
                                      "Round",
                                      "Dropout",
                                      "BatchNormalization",
                                      "InstanceNormalization",
                                      "LayerNormalization",
                                      "GroupNormalization",
                                      "PRelu"};
  return operators;
}

// The tensor that a Constant or ConstantOfShape holds; null for others.
const Tensor* ValueOf(const Node& node) {
  if (node.op_type != "Constant" && node.op_type != "ConstantOfShape")
    return nullptr;
  const AttributeValue* const value = node.FindAttribute("value");
  return value == nullptr ? nullptr : std::get_if<Tensor>(value);
}

// As far as it is declared.
bool HaveSameShape(const ValueInfo& a, const ValueInfo& b) {
  if (!a.shape.has_value() || !b.shape.has_value()) return false;
  return std::ranges::equal(
      *a.shape, *b.shape, [](const Dimension& one, const Dimension& other) {
        return one.value == other.value && one.name == other.name &&
               (one.value.has_value() || !one.name.empty());
      });
}

// A convolution that keeps the number of channels and the size.
bool KeepsShape(const Node& node, const Tensor* weight) {
  if (node.op_type != "Conv" || weight == nullptr || weight->shape().size() < 3)
    return false;
  const Shape& shape = weight->shape();
  if (shape[0] != shape[1] * IntegerOr(node, "group", 1) ||
      TextOr(node, "auto_pad", "NOTSET") != "NOTSET")
    return false;
  for (const std::int64_t stride : IntegersOf(node, "strides")) {
    if (stride != 1) return false;
  }
  const std::size_t axes = shape.size() - 2;
  std::vector<std::int64_t> pads = IntegersOf(node, "pads");
  std::vector<std::int64_t> dilations = IntegersOf(node, "dilations");
  pads.resize(axes * 2, 0);
  dilations.resize(axes, 1);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (pads[axis] + pads[axes + axis] !=
        dilations[axis] * (shape[axis + 2] - 1))
      return false;
  }
  return true;
}

}  // namespace

GraphFacts::GraphFacts(const Graph& graph) : used_(graph.nodes.size(), false) {
  for (const ValueInfo& info : graph.value_infos) {
    if (info.dtype.has_value()) types_.emplace(info.name, *info.dtype);
  }
  for (const ValueInfo& input : graph.inputs) {
    if (input.dtype.has_value())
      types_.insert_or_assign(input.name, *input.dtype);
    if (input.shape.has_value())
      ranks_.emplace(input.name, input.shape->size());
    data_.insert(input.name);
    for (const ValueInfo& other : graph.inputs) {
      if (other.name == input.name) break;
      if (!HaveSameShape(input, other) || input.dtype != other.dtype) continue;
      classes_.emplace(input.name, ShapeClassOf(other.name));
    }
  }
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.encoded.has_value()) continue;
    types_.insert_or_assign(initializer.name, initializer.tensor.dtype());
    if (!data_.contains(initializer.name))
      constants_.emplace(initializer.name, &initializer.tensor);
  }
  for (std::size_t index = 0; index < graph.nodes.size(); ++index)
    AddNode(graph.nodes[index], index);
  FindUsed(graph);
  for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
    const Node& node = graph.nodes[index];
    if (used_[index] && node.domain.empty() && !node.outputs.empty() &&
        IsData(node.outputs[0]))
      data_nodes_.push_back(index);
  }
}

// Of a node's outputs, but for indices beside values.
std::optional<DType> GraphFacts::OutputType(const Node& node) const {
  if (IsOf(BooleanOperators(), node)) return DType::kBool;
  if (IsOf(Int64Operators(), node)) return DType::kInt64;
  if (node.op_type == "Cast") {
    const auto* const found =
        std::ranges::find(kTypes, IntegerOr(node, "to", 0),
                          &std::pair<std::int64_t, DType>::first);
    if (found == std::end(kTypes)) return std::nullopt;
    return found->second;
  }
  if (const Tensor* const value = ValueOf(node)) return value->dtype();
  const std::size_t like = node.op_type == "Where" ? 1 : 0;
  if (like >= node.inputs.size()) return std::nullopt;
  return TypeOf(node.inputs[like]);
}

void GraphFacts::AddNode(const Node& node, std::size_t index) {
  bool is_data = false;
  bool is_counted = node.op_type == "NonZero" || node.op_type == "Unique" ||
                    node.op_type == "NonMaxSuppression" ||
                    node.op_type == "Compress" || node.op_type == "TopK";
  for (const std::string_view used : UsedValues(node)) {
    is_data = is_data || IsData(used);
    is_counted = is_counted || IsCounted(used);
  }
  if (node.op_type == "Shape" || node.op_type == "Size") is_data = false;
  const std::optional<DType> type = OutputType(node);
  const bool has_indices = node.op_type == "TopK" || node.op_type == "MaxPool";
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string& output = node.outputs[i];
    if (output.empty()) continue;
    producers_.emplace(output, index);
    if (is_data) data_.insert(output);
    if (is_counted) counted_.insert(output);
    if (has_indices && i == 1) {
      types_.insert_or_assign(output, DType::kInt64);
    } else if (type.has_value()) {
      types_.insert_or_assign(output, *type);
    }
    const Tensor* const value = ValueOf(node);
    if (node.op_type == "Constant" && value != nullptr)
      constant_nodes_.emplace(output, value);
  }
  AddShapeClass(node);
}

void GraphFacts::AddShapeClass(const Node& node) {
  if (node.outputs.empty() || node.inputs.empty()) return;
  const Tensor* const weight =
      node.inputs.size() > 1 ? ConstantOf(node.inputs[1]) : nullptr;
  if (IsOf(UnaryOperators(), node) || KeepsShape(node, weight))
    classes_.emplace(node.outputs[0], ShapeClassOf(node.inputs[0]));
  const bool is_layer =
      node.op_type == "Conv" || node.op_type == "ConvTranspose";
  if (is_layer && weight != nullptr)
    ranks_.emplace(node.outputs[0], weight->shape().size());
  if (IsOf(UnaryOperators(), node) && RankOf(node.inputs[0]) > 0)
    ranks_.emplace(node.outputs[0], RankOf(node.inputs[0]));
  if (node.op_type != "Split") return;
  // Parts of equal size.
  const std::vector<std::int64_t> sizes = IntegersOf(node, "split");
  for (std::size_t i = 1; i < sizes.size() && i < node.outputs.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (sizes[k] != sizes[i]) continue;
      classes_.emplace(node.outputs[i], ShapeClassOf(node.outputs[k]));
      break;
    }
  }
}

void GraphFacts::FindUsed(const Graph& graph) {
  std::unordered_set<std::string_view> needed;
  for (const ValueInfo& output : graph.outputs) needed.insert(output.name);
  for (std::size_t index = graph.nodes.size(); index-- > 0;) {
    const Node& node = graph.nodes[index];
    used_[index] = std::ranges::any_of(
        node.outputs,
        [&](const std::string& output) { return needed.contains(output); });
    if (!used_[index]) continue;
    for (const std::string_view used : UsedValues(node)) needed.insert(used);
  }
}

std::optional<DType> GraphFacts::TypeOf(std::string_view value) const {
  const auto found = types_.find(value);
  return found == types_.end() ? std::nullopt : std::optional(found->second);
}

bool GraphFacts::IsFloat(std::string_view value) const {
  const std::optional<DType> type = TypeOf(value);
  return type.has_value() && IsFloating(*type);
}

const Tensor* GraphFacts::ConstantOf(std::string_view value) const {
  const auto found = constants_.find(value);
  return found == constants_.end() ? nullptr : found->second;
}

const Tensor* GraphFacts::AnyConstantOf(std::string_view value) const {
  if (const Tensor* const tensor = ConstantOf(value)) return tensor;
  const auto found = constant_nodes_.find(value);
  return found == constant_nodes_.end() ? nullptr : found->second;
}

std::optional<std::size_t> GraphFacts::ProducerOf(
    std::string_view value) const {
  const auto found = producers_.find(value);
  return found == producers_.end() ? std::nullopt
                                   : std::optional(found->second);
}

std::size_t GraphFacts::RankOf(std::string_view value) const {
  const auto found = ranks_.find(value);
  return found == ranks_.end() ? 0 : found->second;
}

std::string_view GraphFacts::ShapeClassOf(std::string_view value) const {
  const auto found = classes_.find(value);
  return found == classes_.end() ? value : found->second;
}

std::int64_t IntegerOr(const Node& node, std::string_view name,
                       std::int64_t otherwise) {
  const AttributeValue* const value = node.FindAttribute(name);
  const auto* const integer =
      value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return integer == nullptr ? otherwise : *integer;
}

double FloatOr(const Node& node, std::string_view name, double otherwise) {
  const AttributeValue* const value = node.FindAttribute(name);
  const auto* const number =
      value == nullptr ? nullptr : std::get_if<float>(value);
  return number == nullptr ? otherwise : static_cast<double>(*number);
}

std::string_view TextOr(const Node& node, std::string_view name,
                        std::string_view otherwise) {
  const AttributeValue* const value = node.FindAttribute(name);
  const auto* const text =
      value == nullptr ? nullptr : std::get_if<std::string>(value);
  return text == nullptr ? otherwise : std::string_view(*text);
}

std::vector<std::int64_t> IntegersOf(const Node& node, std::string_view name) {
  const AttributeValue* const value = node.FindAttribute(name);
  const auto* const list = value == nullptr
                               ? nullptr
                               : std::get_if<std::vector<std::int64_t>>(value);
  return list == nullptr ? std::vector<std::int64_t>() : *list;
}

std::int64_t OnnxTypeNumber(DType dtype) {
  const auto* const found =
      std::ranges::find(kTypes, dtype, &std::pair<std::int64_t, DType>::second);
  return found == std::end(kTypes) ? 0 : found->first;
}

}  // namespace parity
