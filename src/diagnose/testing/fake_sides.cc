#include "diagnose/testing/fake_sides.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

struct Evaluated {
  Numbers numbers;
  Shape shape;
  DType dtype = DType::kFloat64;
};

template <class T>
Tensor MakeTensor(DType dtype, const std::vector<T>& values, Shape shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return *Tensor::From<T>(dtype, std::move(shape), std::span(values));
}

template <class T>
Numbers Read(const Tensor& tensor) {
  Numbers numbers;
  for (const T value : tensor.As<T>())
    numbers.push_back(static_cast<double>(value));
  return numbers;
}

Numbers NumbersOf(const Tensor& tensor) {
  if (tensor.dtype() == DType::kFloat32) return Read<float>(tensor);
  if (tensor.dtype() == DType::kFloat64) return Read<double>(tensor);
  if (tensor.dtype() == DType::kBool) return Read<std::uint8_t>(tensor);
  return Read<std::int64_t>(tensor);
}

Tensor ToTensor(const Evaluated& value) {
  if (value.dtype == DType::kFloat32) {
    return MakeTensor(
        value.dtype,
        std::vector<float>(value.numbers.begin(), value.numbers.end()),
        value.shape);
  }
  if (value.dtype == DType::kFloat64)
    return MakeTensor(value.dtype, value.numbers, value.shape);
  if (value.dtype == DType::kBool) {
    return MakeTensor(
        value.dtype,
        std::vector<std::uint8_t>(value.numbers.begin(), value.numbers.end()),
        value.shape);
  }
  return MakeTensor(
      value.dtype,
      std::vector<std::int64_t>(value.numbers.begin(), value.numbers.end()),
      value.shape);
}

// One computation of a network. Values that the request brings stand for the
// computed ones wherever they are used, but not where they are asked for: as
// the evaluator of ONNX graphs does it.
class Computation {
 public:
  Computation(const FakeNetwork& network, bool is_double, FakeFault fault,
              const LoadRequest& load)
      : network_(network),
        is_double_(is_double),
        fault_(std::move(fault)),
        load_(load) {}

  Result<RunResult> Run(const RunRequest& request, bool is_graph) {
    for (const auto& [name, tensor] : network_.constants)
      given_[name] = {NumbersOf(tensor), tensor.shape(), tensor.dtype()};
    for (const NamedTensor& input : request.inputs)
      given_[input.name] = {NumbersOf(input.tensor), input.tensor.shape(),
                            input.tensor.dtype()};
    RunResult result{.run_ms = 1};
    for (const FakeStep& step : network_.steps) {
      if (!Compute(step)) continue;
      if (request.trace) result.trace.push_back(Trace(step, is_graph));
    }
    const std::vector<std::string>& wanted =
        request.output_names.empty() ? network_.outputs : request.output_names;
    for (const std::string& name : wanted) {
      const Evaluated* const value = Wanted(name);
      if (value == nullptr)
        return Fail(ErrorCode::kBackend, "nothing computes " + name);
      result.outputs.push_back({.name = name, .tensor = ToTensor(*value)});
    }
    return result;
  }

 private:
  bool Compute(const FakeStep& step) {
    std::vector<Numbers> arguments;
    Shape shape;
    for (const std::string& input : step.inputs) {
      const auto given = given_.find(input);
      const auto computed = computed_.find(input);
      if (given == given_.end() && computed == computed_.end()) return false;
      const Evaluated& value =
          given != given_.end() ? given->second : computed->second;
      if (arguments.empty()) shape = value.shape;
      arguments.push_back(value.numbers);
    }
    Evaluated value;
    value.numbers = step.compute(arguments);
    if (fault_) fault_(load_, step, value.numbers);
    value.dtype = step.dtype;
    if (step.dtype == DType::kFloat32) {
      if (is_double_) {
        value.dtype = DType::kFloat64;
      } else {
        for (double& number : value.numbers)
          number = static_cast<double>(static_cast<float>(number));
      }
    }
    const auto count = static_cast<std::int64_t>(value.numbers.size());
    if (!step.shape.empty()) {
      value.shape = step.shape;
    } else {
      value.shape = !arguments.empty() && *ElementCount(shape) == count
                        ? shape
                        : Shape{count};
    }
    computed_[step.output] = std::move(value);
    return true;
  }

  [[nodiscard]] TracedValue Trace(const FakeStep& step, bool is_graph) const {
    const Tensor tensor = ToTensor(computed_.at(step.output));
    TracedValue value{.name = is_graph ? step.output : "",
                      .op = step.op,
                      .module = step.node,
                      .dtype = tensor.dtype(),
                      .shape = tensor.shape(),
                      .sketch = SketchOf(tensor.view())};
    if (!IsFloating(tensor.dtype())) value.tensor = tensor;
    return value;
  }

  [[nodiscard]] const Evaluated* Wanted(const std::string& name) const {
    if (const auto found = computed_.find(name); found != computed_.end())
      return &found->second;
    const auto found = given_.find(name);
    return found == given_.end() ? nullptr : &found->second;
  }

  const FakeNetwork& network_;
  bool is_double_;
  FakeFault fault_;
  const LoadRequest& load_;
  std::map<std::string, Evaluated> given_;
  std::map<std::string, Evaluated> computed_;
};

class FakeSide : public Backend {
 public:
  FakeSide(FakeSides& sides, SideKind kind) : sides_(sides), kind_(kind) {}

  [[nodiscard]] std::string name() const override { return "fake"; }

  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override {
    sides_.loads.push_back(request);
    if (sides_.load_error) {
      if (std::optional<Error> error = sides_.load_error(request))
        return std::unexpected(*std::move(error));
    }
    load_ = request;
    return LoadResult{};
  }

  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override {
    ++sides_.runs;
    return RunFake(sides_, kind_, load_, request);
  }

 private:
  FakeSides& sides_;
  SideKind kind_;
  LoadRequest load_;
};

}  // namespace

Result<RunResult> RunFake(const FakeSides& sides, SideKind kind,
                          const LoadRequest& load, const RunRequest& request) {
  if (sides.run_error) {
    if (std::optional<Error> error = sides.run_error(load, request))
      return std::unexpected(*std::move(error));
  }
  const bool is_double = load.precision == "float64";
  if (kind == SideKind::kRuntime) {
    for (const std::string& name : request.output_names) {
      if (!std::ranges::contains(load.taps, name) &&
          !std::ranges::contains(sides.graph.outputs, name))
        return Fail(ErrorCode::kBackend, name + " is no output and not tapped");
    }
    return Computation(sides.graph, false, sides.candidate_fault, load)
        .Run(request, /*is_graph=*/true);
  }
  if (load.kind == ModelKind::kOnnx) {
    return Computation(sides.graph, is_double,
                       is_double ? FakeFault() : sides.native_fault, load)
        .Run(request, /*is_graph=*/true);
  }
  return Computation(sides.network, is_double, sides.reference_fault, load)
      .Run(request, /*is_graph=*/false);
}

LaboratoryOptions FakeSides::Options() {
  LaboratoryOptions options;
  options.make = [this](SideKind kind) -> Result<std::unique_ptr<Backend>> {
    made.push_back(kind);
    return std::make_unique<FakeSide>(*this, kind);
  };
  if (!recorded) {
    options.reference = [this] {
      ++reference_asked;
      return reference_load;
    };
    options.reference_kind = reference_load.kind;
  }
  options.candidate = candidate_load;
  options.progress = [this](std::string_view text) {
    progress.emplace_back(text);
  };
  return options;
}

Model FakeSides::MakeModel(const NamedTensors& inputs) const {
  Model model;
  for (const NamedTensor& input : inputs) {
    ValueInfo value;
    value.name = input.name;
    value.dtype = input.tensor.dtype();
    value.shape = std::vector<Dimension>(input.tensor.shape().size());
    model.graph.inputs.push_back(std::move(value));
  }
  for (const auto& [name, tensor] : graph.constants)
    model.graph.initializers.push_back({.name = name, .tensor = tensor});
  for (const FakeStep& step : graph.steps) {
    Node node;
    node.name = step.node;
    node.op_type = step.op;
    node.inputs = step.inputs;
    node.outputs = {step.output};
    node.attributes = step.attributes;
    model.graph.nodes.push_back(std::move(node));
  }
  for (const std::string& output : graph.outputs) {
    ValueInfo value;
    value.name = output;
    model.graph.outputs.push_back(std::move(value));
  }
  return model;
}

Result<RunResult> FakeSides::RunReference(const RunRequest& request) const {
  return RunFake(*this, SideKind::kTorch, reference_load, request);
}

Result<RunResult> FakeSides::RunCandidate(const RunRequest& request) const {
  return RunFake(*this, SideKind::kRuntime, candidate_load, request);
}

Subject FakeSides::MakeSubject(const NamedTensors& inputs,
                               const std::string& name) const {
  Subject subject;
  subject.name = name;
  subject.request.inputs = inputs;
  subject.expected = RunReference(subject.request)->outputs;
  subject.actual = RunCandidate(subject.request)->outputs;
  return subject;
}

Tensor Float32(const Numbers& values, Shape shape) {
  return MakeTensor(DType::kFloat32,
                    std::vector<float>(values.begin(), values.end()),
                    std::move(shape));
}

Tensor Float64(const Numbers& values, Shape shape) {
  return MakeTensor(DType::kFloat64, values, std::move(shape));
}

Tensor Int64(const std::vector<std::int64_t>& values, Shape shape) {
  return MakeTensor(DType::kInt64, values, std::move(shape));
}

Numbers Scattered(std::int64_t count, double scale) {
  Numbers numbers;
  for (std::int64_t i = 0; i < count; ++i)
    numbers.push_back(scale * std::sin(1.0 + 2.7 * static_cast<double>(i)));
  return numbers;
}

FakeStep Map(std::string node, std::string op, std::string input,
             std::string output, std::function<double(double)> function) {
  return {.node = std::move(node),
          .op = std::move(op),
          .inputs = {std::move(input)},
          .output = std::move(output),
          .compute = [function = std::move(function)](
                         const std::vector<Numbers>& arguments) {
            Numbers result = arguments[0];
            std::ranges::transform(result, result.begin(), function);
            return result;
          }};
}

FakeStep Combine(std::string node, std::string op,
                 std::vector<std::string> inputs, std::string output,
                 std::function<double(double, double)> function) {
  return {.node = std::move(node),
          .op = std::move(op),
          .inputs = std::move(inputs),
          .output = std::move(output),
          .compute = [function = std::move(function)](
                         const std::vector<Numbers>& arguments) {
            Numbers result = arguments[0];
            const Numbers& other = arguments[1];
            for (std::size_t i = 0; i < result.size(); ++i)
              result[i] = function(result[i], other[i % other.size()]);
            return result;
          }};
}

}  // namespace parity
