#include "graph/graph_builder.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <format>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/half.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// Constants are made here from values in hand: they can only fail for lack of
// a few bytes of memory.
template <class T>
Tensor SmallTensor(DType dtype, Shape shape, std::span<const T> values) {
  Result<Tensor> tensor = Tensor::From<T>(dtype, std::move(shape), values);
  assert(tensor.has_value());
  return *std::move(tensor);
}

template <class T>
std::string Join(std::span<const T> values) {
  std::string text;
  for (const T& value : values)
    text += (text.empty() ? "" : ",") + std::format("{}", value);
  return text;
}

template <class T>
Tensor SmallTensor(DType dtype, Shape shape, const T& value) {
  return SmallTensor(dtype, std::move(shape), std::span<const T>(&value, 1));
}

}  // namespace

Tensor OneElement(double value, DType dtype, Shape shape) {
  switch (dtype) {
    case DType::kBool:
      return SmallTensor(dtype, std::move(shape),
                         static_cast<std::uint8_t>(value != 0));
    case DType::kFloat16:
      return SmallTensor(dtype, std::move(shape),
                         HalfFromFloat(static_cast<float>(value)));
    case DType::kFloat64:
      return SmallTensor(dtype, std::move(shape), value);
    default:
      assert(dtype == DType::kFloat32);
      return SmallTensor(dtype, std::move(shape), static_cast<float>(value));
  }
}

Value GraphBuilder::NewValue(std::string name) {
  names_.push_back(std::move(name));
  return {.id = static_cast<int>(names_.size()) - 1};
}

Value GraphBuilder::Input(std::string name, DType dtype,
                          std::vector<Dimension> dimensions) {
  graph_.inputs.push_back({.name = name,
                           .dtype = dtype,
                           .shape = std::move(dimensions),
                           .other_type = ""});
  return NewValue(std::move(name));
}

void GraphBuilder::Output(Value value, std::string name, DType dtype,
                          std::vector<Dimension> dimensions) {
  assert(names_[static_cast<std::size_t>(value.id)].starts_with('/'));
  graph_.outputs.push_back({.name = name,
                            .dtype = dtype,
                            .shape = std::move(dimensions),
                            .other_type = ""});
  names_[static_cast<std::size_t>(value.id)] = std::move(name);
}

Value GraphBuilder::Initializer(std::string name, Tensor tensor) {
  const Value value = NewValue(name);
  initializers_[value.id] = graph_.initializers.size();
  graph_.initializers.push_back(
      {.name = std::move(name), .tensor = std::move(tensor)});
  return value;
}

void GraphBuilder::SetTensor(Value initializer, Tensor tensor) {
  const auto found = initializers_.find(initializer.id);
  assert(found != initializers_.end());
  graph_.initializers[found->second].tensor = std::move(tensor);
}

Value GraphBuilder::Constant(const std::string& content, Tensor tensor) {
  const auto [found, is_new] = constants_.try_emplace(content);
  if (!is_new) return found->second;
  constexpr std::size_t kLongestName = 48;
  std::string name = content;
  if (name.size() > kLongestName)
    name = std::format("constant/table_{}", constants_.size());
  found->second = Initializer(std::move(name), std::move(tensor));
  return found->second;
}

Value GraphBuilder::Integers(std::span<const std::int64_t> values) {
  return Integers(values, {static_cast<std::int64_t>(values.size())});
}

Value GraphBuilder::Integers(std::span<const std::int64_t> values,
                             Shape shape) {
  std::string name = "constant/int64/";
  if (shape.size() != 1) name += std::format("{}/", ToString(shape));
  name += Join(values);
  return Constant(name, SmallTensor(DType::kInt64, std::move(shape), values));
}

Value GraphBuilder::Float(double value, DType dtype) {
  return Constant(std::format("constant/{}/{}", Name(dtype), value),
                  OneElement(value, dtype, {}));
}

Value GraphBuilder::Floats(std::span<const float> values) {
  return Constant(
      std::format("constant/float32/[{}]", Join(values)),
      SmallTensor(DType::kFloat32, {static_cast<std::int64_t>(values.size())},
                  values));
}

std::string GraphBuilder::NextNodeName(std::string_view module,
                                       std::string_view op_type) {
  std::string name = "/";
  if (!module.empty()) name.append(module).append("/");
  std::ranges::replace(name, '.', '/');
  name += op_type;
  const int earlier = uses_[name]++;
  if (earlier > 0) name += std::format("_{}", earlier);
  return name;
}

std::vector<Value> GraphBuilder::Add(std::string_view module,
                                     std::string_view op_type,
                                     std::span<const Value> inputs,
                                     std::vector<Attribute> attributes,
                                     std::size_t output_count) {
  PendingNode pending;
  pending.node.name = NextNodeName(module, op_type);
  pending.node.op_type = op_type;
  pending.node.attributes = std::move(attributes);
  pending.inputs.assign(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < output_count; ++i) {
    pending.outputs.push_back(
        NewValue(std::format("{}_output_{}", pending.node.name, i)));
  }
  nodes_.push_back(std::move(pending));
  return nodes_.back().outputs;
}

void GraphBuilder::NameAs(Value value, std::string_view module,
                          std::string_view op_type) {
  names_[static_cast<std::size_t>(value.id)] =
      NextNodeName(module, op_type) + "_output_0";
}

Graph GraphBuilder::Take() && {
  const auto name_of = [this](Value value) {
    return value.id < 0 ? std::string()
                        : names_[static_cast<std::size_t>(value.id)];
  };
  graph_.nodes.reserve(nodes_.size());
  for (PendingNode& pending : nodes_) {
    std::ranges::transform(pending.inputs,
                           std::back_inserter(pending.node.inputs), name_of);
    std::ranges::transform(pending.outputs,
                           std::back_inserter(pending.node.outputs), name_of);
    graph_.nodes.push_back(std::move(pending.node));
  }
  return std::move(graph_);
}

}  // namespace parity
