#include "backend/torch/onnx/graph_evaluator.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <format>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/exception_text.h"
#include "backend/torch/onnx/graph_program.h"
#include "backend/torch/onnx/graph_schedule.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"
#include "backend/torch/tensor_bridge.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// Subgraphs and function bodies inside each other: far more than real models
// have, far less than the stack can take.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxTracedBytes = std::size_t{16} << 20U;

using Names = std::unordered_set<std::string_view>;
// Attributes a function was called with.
using Bindings = std::unordered_map<std::string_view, const AttributeValue*>;

// Carries an Error out of operators that evaluate subgraphs.
struct EvaluationFailure : std::exception {
  explicit EvaluationFailure(Error what) : error(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override {
    return error.message.c_str();
  }
  Error error;
};

[[noreturn]] void Throw(ErrorCode code, std::string message) {
  throw EvaluationFailure({.code = code, .message = std::move(message)});
}

template <class T>
T ValueOrThrow(Result<T> result) {
  if (!result) throw EvaluationFailure(std::move(result).error());
  return *std::move(result);
}

std::string Label(const Node& node, std::size_t index) {
  const std::string type = OperatorName(node);
  return Printable(node.name.empty()
                       ? std::format("node {} (unnamed, {})", index, type)
                       : std::format("node '{}' ({})", node.name, type));
}

std::string List(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names)
    list += std::format("{}'{}'", list.empty() ? "" : ", ", Printable(name));
  return list;
}

// One evaluation of a graph or of a function's body.
struct Frame {
  const GraphIndex& index;
  const Schedule& schedule;
  std::int64_t opset = 0;
  Frame* outer = nullptr;  // whose values this one sees
  const Bindings* bindings = nullptr;
  int depth = 0;
  // Values that were given, as they were given. Their nodes, evaluated only
  // when wanted, do not replace them.
  std::unordered_map<std::string_view, const Tensor*> given = {};
  std::unordered_map<std::string_view, at::Tensor> values = {};
  std::unordered_map<std::string_view, at::Tensor> recomputed = {};
  std::unordered_map<std::string_view, int> uses_left = {};
};

class Evaluation {
 public:
  Evaluation(const GraphProgram& program, FloatingType floating,
             const GraphEvaluator::Tracer& tracer)
      : program_(program), floating_(floating), tracer_(tracer) {}

  void Run(Frame& frame) {
    frame.uses_left = frame.schedule.uses;
    for (const std::size_t node : frame.schedule.nodes) {
      Store(frame, node, Evaluate(frame, node));
      for (const std::string_view name : frame.index.reads[node])
        CountUse(frame, name);
    }
  }

  // A value the frame computed or sees; undefined when there is none. What is
  // constant or given is converted here, and kept while more of its uses follow
  // or `keep` says so.
  at::Tensor Find(Frame& frame, std::string_view name, bool keep = false) {
    if (const auto found = frame.values.find(name); found != frame.values.end())
      return found->second;
    const Tensor* constant = nullptr;
    if (const auto given = frame.given.find(name); given != frame.given.end()) {
      constant = given->second;
    }
    Tensor values;
    if (const auto initializer = frame.index.initializers.find(name);
        constant == nullptr && initializer != frame.index.initializers.end()) {
      values = ValueOrThrow(initializer->second->Values());
      constant = &values;
    }
    if (constant == nullptr) {
      // The subgraph may be evaluated many times.
      return frame.outer != nullptr ? Find(*frame.outer, name, /*keep=*/true)
                                    : at::Tensor();
    }
    at::Tensor held = Held(ValueOrThrow(TorchFromParity(*constant)));
    const auto left = frame.uses_left.find(name);
    if (left != frame.uses_left.end() && (keep || left->second > 1))
      frame.values.emplace(name, held);
    return held;
  }

 private:
  at::Tensor Held(const at::Tensor& tensor) const {
    return floating_ && c10::isFloatingType(tensor.scalar_type())
               ? tensor.to(*floating_)
               : tensor;
  }

  static void CountUse(Frame& frame, std::string_view name) {
    const auto left = frame.uses_left.find(name);
    if (left != frame.uses_left.end() && --left->second == 0)
      frame.values.erase(name);
  }

  std::vector<at::Tensor> Evaluate(Frame& frame, std::size_t index) {
    const Node& node = frame.index.nodes[index];
    try {
      const std::optional<Node> bound = Bound(node, frame.bindings);
      const Node& called = bound ? *bound : node;
      std::vector<at::Tensor> inputs;
      inputs.reserve(node.inputs.size());
      for (const std::string& name : node.inputs)
        inputs.push_back(name.empty() ? at::Tensor() : Input(frame, name));
      if (const Function* function = program_.FunctionOf(node))
        return Call(*function, called, inputs, frame.depth);
      return Apply(frame, called, inputs);
    } catch (EvaluationFailure& failure) {
      throw EvaluationFailure(std::move(failure.error).In(Label(node, index)));
    } catch (const OperatorError& error) {
      Throw(ErrorCode::kUnsupported,
            std::format("{}: {}", Label(node, index), OneLine(error.what())));
    } catch (const std::exception& exception) {
      throw EvaluationFailure(BackendError(exception).In(Label(node, index)));
    }
  }

  at::Tensor Input(Frame& frame, const std::string& name) {
    at::Tensor value = Find(frame, name);
    // Values that an omitted output of a node or an omitted input of a function
    // stands for are known, but undefined.
    if (!value.defined() && !Known(frame, name)) {
      Throw(ErrorCode::kIncompatible,
            std::format("there is no value '{}' before it", Printable(name)));
    }
    return value;
  }

  static bool Known(const Frame& frame, std::string_view name) {
    return frame.values.contains(name) ||
           (frame.outer != nullptr && Known(*frame.outer, name));
  }

  std::vector<at::Tensor> Apply(Frame& frame, const Node& node,
                                const std::vector<at::Tensor>& inputs) {
    const auto found = Operators().find(OperatorName(node));
    if (found == Operators().end())
      throw OperatorError("this operator cannot be evaluated");
    const auto evaluate_subgraph = [&](const Graph& graph,
                                       std::span<const at::Tensor> arguments) {
      return EvaluateSubgraph(frame, graph, arguments);
    };
    return found->second(OperatorContext(node, frame.opset, floating_, inputs,
                                         evaluate_subgraph));
  }

  std::vector<at::Tensor> EvaluateSubgraph(
      Frame& outer, const Graph& graph, std::span<const at::Tensor> arguments) {
    const Body& body = program_.BodyOf(graph);
    if (arguments.size() > body.index.inputs.size()) {
      throw OperatorError(std::format(
          "the subgraph '{}' takes {} inputs, not {}", Printable(graph.name),
          body.index.inputs.size(), arguments.size()));
    }
    return RunBody({.index = body.index,
                    .schedule = body.schedule,
                    .opset = outer.opset,
                    .outer = &outer,
                    .bindings = outer.bindings,
                    .depth = outer.depth + 1},
                   arguments);
  }

  std::vector<at::Tensor> Call(const Function& function, const Node& node,
                               std::span<const at::Tensor> arguments,
                               int depth) {
    Bindings bindings;
    for (const Attribute& attribute : function.default_attributes)
      bindings[attribute.name] = &attribute.value;
    for (const Attribute& attribute : node.attributes)
      bindings[attribute.name] = &attribute.value;
    const Body& body = program_.BodyOf(function);
    if (arguments.size() > body.index.inputs.size()) {
      throw OperatorError(std::format("the function takes {} inputs, not {}",
                                      body.index.inputs.size(),
                                      arguments.size()));
    }
    // ONNX allows no recursion.
    if (std::ranges::contains(calls_, &function))
      throw OperatorError("the function calls itself");
    calls_.push_back(&function);
    std::vector<at::Tensor> outputs =
        RunBody({.index = body.index,
                 .schedule = body.schedule,
                 .opset = program_.OpsetOf(function),
                 .bindings = &bindings,
                 .depth = depth + 1},
                arguments);
    calls_.pop_back();
    return outputs;
  }

  std::vector<at::Tensor> RunBody(Frame frame,
                                  std::span<const at::Tensor> arguments) {
    if (frame.depth > kMaxDepth) {
      throw OperatorError(std::format(
          "subgraphs and functions lie more than {} deep in each other",
          kMaxDepth));
    }
    for (std::size_t i = 0; i < frame.index.inputs.size(); ++i) {
      if (i < arguments.size()) {
        frame.values[frame.index.inputs[i]] = arguments[i];
      } else if (!frame.index.initializers.contains(frame.index.inputs[i])) {
        frame.values[frame.index.inputs[i]] = at::Tensor();
      }
    }
    Run(frame);
    std::vector<at::Tensor> outputs;
    outputs.reserve(frame.index.outputs.size());
    for (const std::string_view name : frame.index.outputs)
      outputs.push_back(Input(frame, std::string(name)));
    return outputs;
  }

  // The node with references to the attributes of the function it is part of
  // replaced by those; nothing when it has none.
  static std::optional<Node> Bound(const Node& node, const Bindings* bindings) {
    constexpr std::string_view kStart = "reference to '";
    const auto reference =
        [&](const Attribute& attribute) -> std::optional<std::string_view> {
      const auto* encoded = std::get_if<EncodedAttribute>(&attribute.value);
      if (encoded == nullptr || !encoded->kind.starts_with(kStart) ||
          !encoded->kind.ends_with('\''))
        return std::nullopt;
      return std::string_view(encoded->kind)
          .substr(kStart.size(), encoded->kind.size() - kStart.size() - 1);
    };
    if (bindings == nullptr ||
        std::ranges::none_of(node.attributes, [&](const Attribute& attribute) {
          return reference(attribute).has_value();
        }))
      return std::nullopt;
    Node bound = node;
    std::erase_if(bound.attributes, [&](Attribute& attribute) {
      const std::optional<std::string_view> name = reference(attribute);
      if (!name) return false;
      const auto found = bindings->find(*name);
      // An attribute the caller leaves out is left out here, too.
      if (found == bindings->end()) return true;
      AttributeValue value = *found->second;
      attribute.value = std::move(value);
      return false;
    });
    return bound;
  }

  void Store(Frame& frame, std::size_t index,
             const std::vector<at::Tensor>& outputs) {
    const Node& node = frame.index.nodes[index];
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const std::string& name = node.outputs[i];
      if (name.empty()) continue;
      const at::Tensor value = i < outputs.size() ? outputs[i] : at::Tensor();
      const bool is_used = frame.uses_left.contains(name);
      if (!value.defined() && is_used) {
        Throw(ErrorCode::kUnsupported,
              std::format("{}: its output '{}' cannot be evaluated",
                          Label(node, index), Printable(name)));
      }
      if (!value.defined()) continue;
      if (frame.depth == 0 && tracer_) Trace(node, name, value);
      if (!is_used) continue;
      if (frame.given.contains(name)) {
        frame.recomputed[name] = value;
      } else {
        frame.values[name] = value;
      }
    }
  }

  void Trace(const Node& node, const std::string& name,
             const at::Tensor& value) {
    const Tensor tensor = ValueOrThrow(ParityFromTorch(value, name));
    constexpr std::array<std::string_view, 4> kSteps = {"Round", "Floor",
                                                        "Ceil", "Sign"};
    const bool is_kept =
        (!IsFloating(tensor.dtype()) ||
         std::ranges::contains(kSteps, std::string_view(node.op_type))) &&
        tensor.bytes().size() <= kMaxTracedBytes;
    TracedValue traced = {.name = name,
                          .op = node.op_type,
                          .module = node.name,
                          .dtype = tensor.dtype(),
                          .shape = tensor.shape(),
                          .sketch = SketchOf(tensor.view())};
    // A view of a larger tensor would keep all of that.
    if (is_kept) {
      traced.tensor =
          value.storage().nbytes() == tensor.bytes().size()
              ? tensor
              : ValueOrThrow(Tensor::Copy(tensor.dtype(), tensor.shape(),
                                          tensor.bytes()));
    }
    tracer_(std::move(traced));
  }

  const GraphProgram& program_;
  FloatingType floating_;
  const GraphEvaluator::Tracer& tracer_;
  std::vector<const Function*> calls_;  // under way
};

}  // namespace

struct GraphEvaluator::Contents {
  Contents(Model model, FloatingType type)
      : program(std::move(model)), floating(type) {}
  GraphProgram program;
  FloatingType floating;
};

GraphEvaluator::GraphEvaluator(Model model, FloatingType floating)
    : contents_(std::make_unique<Contents>(std::move(model), floating)) {}
GraphEvaluator::~GraphEvaluator() = default;
GraphEvaluator::GraphEvaluator(GraphEvaluator&&) noexcept = default;
GraphEvaluator& GraphEvaluator::operator=(GraphEvaluator&&) noexcept = default;

std::vector<std::string> GraphEvaluator::UnknownOperators() const {
  return contents_->program.UnknownOperators();
}

Result<NamedTensors> GraphEvaluator::Evaluate(
    const NamedTensors& given, const std::vector<std::string>& outputs,
    const Tracer& trace) const {
  const GraphIndex& main = contents_->program.main();
  std::vector<std::string_view> wanted;
  for (const std::string_view name : outputs) {
    if (!std::ranges::contains(wanted, name)) wanted.push_back(name);
  }
  if (wanted.empty()) wanted = main.outputs;
  for (const std::string_view name : wanted) {
    if (!main.Defines(name)) {
      return Fail(ErrorCode::kNotFound,
                  std::format("the graph has no value '{}'", Printable(name)));
    }
  }
  Names given_names;
  for (const NamedTensor& value : given) {
    if (!main.Defines(value.name)) {
      return Fail(ErrorCode::kNotFound,
                  std::format("a value '{}' is given, but the graph has none",
                              Printable(value.name)));
    }
    given_names.insert(value.name);
  }
  const Schedule schedule = MakeSchedule(main, wanted, given_names);
  if (!schedule.missing.empty()) {
    return Fail(ErrorCode::kIncompatible,
                std::format("no values are given for {}, which the wanted "
                            "values need",
                            List(schedule.missing)));
  }
  Frame frame = {
      .index = main, .schedule = schedule, .opset = contents_->program.opset()};
  for (const NamedTensor& value : given)
    frame.given.emplace(value.name, &value.tensor);
  try {
    Evaluation evaluation(contents_->program, contents_->floating, trace);
    evaluation.Run(frame);
    NamedTensors results;
    for (const std::string_view name : wanted) {
      const auto recomputed = frame.recomputed.find(name);
      PARITY_ASSIGN_OR_RETURN(
          Tensor tensor, ParityFromTorch(recomputed != frame.recomputed.end()
                                             ? recomputed->second
                                             : evaluation.Find(frame, name),
                                         name));
      results.push_back(
          {.name = std::string(name), .tensor = std::move(tensor)});
    }
    return results;
  } catch (EvaluationFailure& failure) {
    return std::unexpected(std::move(failure.error));
  } catch (const std::exception& exception) {
    return std::unexpected(BackendError(exception));
  }
}

}  // namespace parity
