#include "graph_edits.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/half.h"
#include "graph/model.h"
#include "graph/subgraphs.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

template <class T, class Widen>
std::vector<double> Widened(const Tensor& tensor, Widen widen) {
  std::vector<double> elements;
  for (const T value : tensor.As<T>())
    elements.push_back(static_cast<double>(widen(value)));
  return elements;
}

template <class T, class Narrow>
Tensor Narrowed(DType dtype, const Shape& shape,
                const std::vector<double>& elements, Narrow narrow) {
  std::vector<T> values;
  values.reserve(elements.size());
  for (const double element : elements)
    values.push_back(narrow(static_cast<float>(element)));
  return Tensor::From<T>(dtype, shape, values).value();
}

// float32 → bfloat16, to nearest even. Not for NaN.
std::uint16_t BFloat16Of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >>
                                    16U);
}

}  // namespace

void SetAttribute(Node& node, std::string_view name, AttributeValue value) {
  const auto found = std::ranges::find(node.attributes, name, &Attribute::name);
  if (found != node.attributes.end()) {
    found->value = std::move(value);
  } else {
    node.attributes.push_back(
        {.name = std::string(name), .value = std::move(value)});
  }
}

std::vector<double> FloatElements(const Tensor& tensor) {
  const auto same = [](auto value) { return value; };
  switch (tensor.dtype()) {
    case DType::kFloat16:
      return Widened<std::uint16_t>(tensor, FloatFromHalf);
    case DType::kBFloat16:
      return Widened<std::uint16_t>(tensor, FloatFromBFloat16);
    case DType::kFloat32:
      return Widened<float>(tensor, same);
    case DType::kFloat64:
      return Widened<double>(tensor, same);
    default:
      return {};
  }
}

Tensor FloatTensor(DType dtype, const Shape& shape,
                   const std::vector<double>& elements) {
  switch (dtype) {
    case DType::kFloat16:
      return Narrowed<std::uint16_t>(dtype, shape, elements, HalfFromFloat);
    case DType::kBFloat16:
      return Narrowed<std::uint16_t>(dtype, shape, elements, BFloat16Of);
    case DType::kFloat64:
      return Tensor::From<double>(dtype, shape, elements).value();
    default:
      return Narrowed<float>(DType::kFloat32, shape, elements,
                             [](float value) { return value; });
  }
}

std::string FreshName(const Graph& graph, std::string name) {
  std::unordered_set<std::string_view> taken;
  for (const Node& node : graph.nodes) {
    taken.insert(node.name);
    taken.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const Initializer& initializer : graph.initializers)
    taken.insert(initializer.name);
  for (const ValueInfo& input : graph.inputs) taken.insert(input.name);
  std::string fresh = name;
  for (int i = 1; taken.contains(fresh); ++i)
    fresh = std::format("{}_{}", name, i);
  return fresh;
}

void EditConstant(Graph& graph, std::size_t node, std::size_t input,
                  const std::function<void(std::vector<double>&)>& edit) {
  const std::string name = graph.nodes[node].inputs[input];
  Tensor tensor;
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.name == name) tensor = initializer.tensor;
  }
  for (const Node& constant : graph.nodes) {
    if (constant.op_type == "Constant" &&
        std::ranges::contains(constant.outputs, name))
      tensor = std::get<Tensor>(*constant.FindAttribute("value"));
  }
  std::vector<double> elements = FloatElements(tensor);
  edit(elements);
  const std::string own = FreshName(graph, name + "_edited");
  graph.initializers.push_back(
      {.name = own,
       .tensor = FloatTensor(tensor.dtype(), tensor.shape(), elements)});
  graph.nodes[node].inputs[input] = own;
  // Nobody may be left to use the original.
  const auto uses = [&](const Node& other) {
    return std::ranges::contains(other.inputs, name);
  };
  if (!HasSubgraphs(graph) && std::ranges::none_of(graph.nodes, uses) &&
      !std::ranges::contains(graph.outputs, name, &ValueInfo::name) &&
      !std::ranges::contains(graph.inputs, name, &ValueInfo::name))
    std::erase_if(graph.initializers, [&](const Initializer& initializer) {
      return initializer.name == name;
    });
}

void InsertBehind(Graph& graph, const std::string& value,
                  const std::function<std::vector<Node>(
                      const std::string& from, const std::string& to)>& make) {
  const auto producer =
      std::ranges::find_if(graph.nodes, [&](const Node& node) {
        return std::ranges::contains(node.outputs, value);
      });
  const std::string inside = FreshName(graph, value + "_inside");
  std::vector<Node> nodes = make(inside, value);
  std::ranges::replace(producer->outputs, value, inside);
  graph.nodes.insert(std::next(producer),
                     std::make_move_iterator(nodes.begin()),
                     std::make_move_iterator(nodes.end()));
}

Node MakeNode(const Graph& graph, const std::string& neighbour, std::string op,
              std::string_view suffix, std::vector<std::string> inputs,
              std::string output, std::vector<Attribute> attributes) {
  const std::size_t slash = neighbour.rfind('/');
  std::string name = slash == std::string::npos
                         ? std::string("/")
                         : neighbour.substr(0, slash + 1);
  name += std::format("{}_{}", op, suffix);
  return {.name = FreshName(graph, std::move(name)),
          .op_type = std::move(op),
          .domain = "",
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}

void RenameValues(
    Graph& graph,
    const std::function<std::string(const std::string& name)>& new_name) {
  const auto rename = [&](std::string& name) {
    if (!name.empty()) name = new_name(name);
  };
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, rename);
    std::ranges::for_each(node.outputs, rename);
  }
  for (Initializer& initializer : graph.initializers) rename(initializer.name);
  for (ValueInfo& info : graph.inputs) rename(info.name);
  for (ValueInfo& info : graph.outputs) rename(info.name);
  for (ValueInfo& info : graph.value_infos) rename(info.name);
}

bool HasSubgraphs(const Graph& graph) {
  return std::ranges::any_of(
      graph.nodes, [](const Node& node) { return !Subgraphs(node).empty(); });
}

}  // namespace parity
