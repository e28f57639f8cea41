#include "diagnose/testing/two_sides.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/splitmix.h"
#include "diagnose/value_alignment.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

TracedValue Traced(const std::string& name, const std::string& op,
                   const std::string& module, const Numbers& numbers,
                   Shape shape) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Tensor tensor =
      Tensor::From<double>(DType::kFloat64, {count}, numbers).value();
  if (shape.empty()) shape = {count};
  return {.name = name,
          .op = op,
          .module = module,
          .dtype = DType::kFloat64,
          .shape = std::move(shape),
          .sketch = SketchOf(tensor.view())};
}

}  // namespace

Numbers Random(std::size_t count, std::uint64_t seed) {
  const SplitMixStream stream("alignment", seed);
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(stream.Uniform(i) * 2 - 1);
  return numbers;
}

Numbers Map(Numbers numbers, const std::function<double(double)>& function) {
  for (double& number : numbers) number = function(number);
  return numbers;
}

Numbers Zip(Numbers a, const Numbers& b,
            const std::function<double(double, double)>& function) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = function(a[i], b[i]);
  return a;
}

Numbers Mix(const Numbers& numbers, std::uint64_t weights) {
  const Numbers weight = Random(numbers.size(), weights);
  Numbers mixed;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k)
      sum += numbers[k] * weight[(i * 7 + k * 3) % weight.size()];
    mixed.push_back(sum);
  }
  return mixed;
}

Numbers Relu(const Numbers& numbers) {
  return Map(numbers, [](double x) { return x > 0 ? x : 0; });
}
Numbers Scaled(const Numbers& numbers, double by) {
  return Map(numbers, [by](double x) { return x * by; });
}
Numbers Plus(const Numbers& a, const Numbers& b) {
  return Zip(a, b, std::plus<>());
}
Numbers Times(const Numbers& a, const Numbers& b) {
  return Zip(a, b, std::multiplies<>());
}

Numbers Transposed(const Numbers& numbers, std::size_t columns) {
  Numbers transposed;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = c; i < numbers.size(); i += columns)
      transposed.push_back(numbers[i]);
  }
  return transposed;
}

Numbers Joined(const Numbers& a, const Numbers& b) {
  Numbers joined = a;
  joined.insert(joined.end(), b.begin(), b.end());
  return joined;
}

TwoSides::TwoSides() { AddInput("x", x); }

void TwoSides::AddInput(const std::string& name, const Numbers& numbers) {
  inputs_.push_back(Traced(name, "", "", numbers, {}));
  graph.inputs.emplace_back().name = name;
}

void TwoSides::Node(const std::string& op, std::vector<std::string> inputs,
                    const std::string& output, const Numbers& numbers,
                    Shape shape) {
  NamedNode("/" + output, op, std::move(inputs), output, numbers,
            std::move(shape));
}

void TwoSides::NamedNode(const std::string& name, const std::string& op,
                         std::vector<std::string> inputs,
                         const std::string& output, const Numbers& numbers,
                         Shape shape) {
  UntracedNode(name, op, std::move(inputs), {output});
  candidate_.push_back(Traced(output, op, name, numbers, std::move(shape)));
}

void TwoSides::UntracedNode(const std::string& name, const std::string& op,
                            std::vector<std::string> inputs,
                            std::vector<std::string> outputs) {
  graph.nodes.push_back({.name = name,
                         .op_type = op,
                         .domain = "",
                         .inputs = std::move(inputs),
                         .outputs = std::move(outputs),
                         .attributes = {}});
}

void TwoSides::Constant(const std::string& name) {
  graph.initializers.push_back({.name = name, .tensor = {}});
}

void TwoSides::Reference(const std::string& op, const std::string& module,
                         const Numbers& numbers, Shape shape) {
  reference_.push_back(Traced("", op, module, numbers, std::move(shape)));
}

void TwoSides::Both(const std::string& op, std::vector<std::string> inputs,
                    const std::string& output, const std::string& torch_op,
                    const Numbers& numbers) {
  Node(op, std::move(inputs), output, numbers);
  Reference(torch_op, output, numbers);
}

std::optional<Divergence> TwoSides::Find(
    const std::vector<std::string>& outputs) const {
  return FindDivergence({.graph = graph,
                         .reference = reference_,
                         .candidate = candidate_,
                         .inputs = inputs_,
                         .wrong_outputs = outputs,
                         .tolerance = 1e-6});
}

}  // namespace parity
