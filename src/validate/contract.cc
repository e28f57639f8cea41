#include "validate/contract.h"

#include <algorithm>
#include <cstddef>
#include <format>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::string ToString(const Dimension& dimension) {
  if (dimension.value) return std::to_string(*dimension.value);
  return dimension.name.empty() ? "?" : dimension.name;
}

std::string ShapeText(const std::vector<Dimension>& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const Dimension& dimension : shape)
    text += (text.empty() ? "" : " x ") + ToString(dimension);
  return text;
}

bool IsPositionalName(std::string_view name) {
  constexpr std::string_view kPrefix = "output_";
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         std::ranges::all_of(name.substr(kPrefix.size()),
                             [](char c) { return c >= '0' && c <= '9'; });
}

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

OutputPairing PairByPosition(const std::vector<std::string>& expected,
                             const std::vector<std::string>& actual) {
  OutputPairing pairing;
  const std::size_t common = std::min(expected.size(), actual.size());
  for (std::size_t i = 0; i < common; ++i)
    pairing.pairs.push_back({.expected = i, .actual = i});
  if (expected.size() != actual.size()) {
    pairing.failures.push_back(
        std::format("the reference has {} outputs, the ONNX file {}",
                    expected.size(), actual.size()));
  }
  return pairing;
}

OutputPairing PairByName(const std::vector<std::string>& expected,
                         const std::vector<std::string>& actual) {
  OutputPairing pairing;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto found = std::ranges::find(actual, expected[i]);
    if (found == actual.end()) {
      pairing.failures.push_back(std::format(
          "output {} of the reference is missing from the ONNX file",
          expected[i]));
    } else {
      pairing.pairs.push_back(
          {.expected = i,
           .actual = static_cast<std::size_t>(found - actual.begin())});
    }
  }
  for (const std::string& name : actual) {
    if (!Contains(expected, name)) {
      pairing.failures.push_back(std::format(
          "output {} of the ONNX file is not among the reference's", name));
    }
  }
  return pairing;
}

}  // namespace

Contract ContractOf(const Model& model) {
  return {.inputs = model.graph.RequiredInputs(),
          .outputs = model.graph.outputs,
          .metadata = model.metadata,
          .opset = model.opset_version()};
}

std::string ToString(const ValueInfo& value) {
  if (!value.other_type.empty()) return value.other_type;
  return std::format("{} {}", value.dtype ? Name(*value.dtype) : "any dtype",
                     value.shape ? ShapeText(*value.shape) : "any shape");
}

std::vector<std::string> DimensionBindings::Bind(const ValueInfo& declared,
                                                 const Shape& shape) {
  std::vector<std::string> failures;
  if (!declared.shape) return failures;
  const std::vector<Dimension>& dimensions = *declared.shape;
  if (dimensions.size() != shape.size()) {
    failures.push_back(
        std::format("{} has rank {} ({}), declared is rank {} ({})",
                    declared.name, shape.size(), parity::ToString(shape),
                    dimensions.size(), ShapeText(dimensions)));
    return failures;
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const Dimension& dimension = dimensions[axis];
    if (dimension.value && *dimension.value != shape[axis]) {
      failures.push_back(
          std::format("{} has size {} on axis {}, declared is {}",
                      declared.name, shape[axis], axis, *dimension.value));
    }
    if (dimension.value || dimension.name.empty()) continue;
    const auto [binding, is_new] =
        bindings_.try_emplace(dimension.name, shape[axis], declared.name);
    if (is_new || binding->second.size == shape[axis]) continue;
    failures.push_back(std::format("dimension '{}' is {} in {} but {} in {}",
                                   dimension.name, binding->second.size,
                                   binding->second.value, shape[axis],
                                   declared.name));
  }
  return failures;
}

OutputPairing PairOutputs(const std::vector<std::string>& expected,
                          const std::vector<std::string>& actual) {
  if (std::ranges::all_of(expected, IsPositionalName) && expected != actual)
    return PairByPosition(expected, actual);
  const bool no_common_name = std::ranges::none_of(
      expected,
      [&](const std::string& name) { return Contains(actual, name); });
  if (no_common_name && expected.size() == actual.size()) {
    OutputPairing pairing = PairByPosition(expected, actual);
    pairing.notes.emplace_back(
        "the two sides name their outputs differently; they are compared in "
        "order");
    return pairing;
  }
  return PairByName(expected, actual);
}

std::vector<std::string> CompareSignatures(const Tensor& expected,
                                           const Tensor& actual,
                                           DType expected_dtype) {
  std::vector<std::string> failures;
  if (actual.dtype() != expected_dtype) {
    failures.push_back(std::format("dtype is {}, the reference's is {}",
                                   Name(actual.dtype()), Name(expected_dtype)));
  }
  if (actual.shape().size() != expected.shape().size()) {
    failures.push_back(std::format(
        "rank is {} ({}), the reference's is {} ({})", actual.shape().size(),
        parity::ToString(actual.shape()), expected.shape().size(),
        parity::ToString(expected.shape())));
  } else if (actual.shape() != expected.shape()) {
    failures.push_back(std::format("shape is {}, the reference's is {}",
                                   parity::ToString(actual.shape()),
                                   parity::ToString(expected.shape())));
  }
  return failures;
}

}  // namespace parity
