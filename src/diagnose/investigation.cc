#include "diagnose/investigation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "diagnose/error_budget.h"
#include "diagnose/module_path.h"
#include "diagnose/noise_model.h"
#include "diagnose/rounding_casts.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// TensorProto.DataType
constexpr std::int64_t kOnnxFloat16 = 10;
constexpr std::int64_t kOnnxBFloat16 = 16;

double RoundoffOfCast(const Node& node) {
  if (node.op_type != "Cast") return 0;
  const AttributeValue* const to = node.FindAttribute("to");
  const auto* const type =
      to == nullptr ? nullptr : std::get_if<std::int64_t>(to);
  if (type == nullptr) return 0;
  if (*type == kOnnxFloat16) return UnitRoundoff(DType::kFloat16);
  return *type == kOnnxBFloat16 ? UnitRoundoff(DType::kBFloat16) : 0;
}

RunRequest Traced(const RunRequest& request) {
  RunRequest traced = request;
  traced.trace = true;
  traced.output_names.clear();
  return traced;
}

const Tensor* At(const NamedTensors* tensors, std::size_t index) {
  return tensors != nullptr && index < tensors->size()
             ? &(*tensors)[index].tensor
             : nullptr;
}

}  // namespace

double WorkingRoundoff(const Graph& graph) {
  double roundoff = 0;
  for (const Initializer& initializer : graph.initializers)
    roundoff = std::max(roundoff, UnitRoundoff(initializer.tensor.dtype()));
  for (const ValueInfo& input : graph.inputs) {
    if (input.dtype) roundoff = std::max(roundoff, UnitRoundoff(*input.dtype));
  }
  const std::vector<const Node*> rounding = RoundingCasts(graph);
  for (const Node& node : graph.nodes) {
    if (!std::ranges::contains(rounding, &node))
      roundoff = std::max(roundoff, RoundoffOfCast(node));
  }
  return roundoff;
}

std::string NodeLabel(const Node& node) {
  if (!node.name.empty()) return node.name;
  for (const std::string& output : node.outputs) {
    if (!output.empty()) return output;
  }
  return node.op_type;
}

std::string NodeLabel(const TracedValue& value) {
  return value.module.empty() ? value.name : value.module;
}

std::string Text(double number) { return std::format("{:.3g}", number); }

void Investigation::MeasureBudgets() {
  roundoff_ = WorkingRoundoff(graph());
  if (lab_.has_reference()) {
    Result<RunResult> run = lab_.Reference64(Traced(subject_.request));
    if (run) {
      reference64_ = *std::move(run);
    } else {
      notes_.push_back(
          std::format("the reference could not be computed in float64: {}",
                      run.error().message));
    }
  }
  Result<RunResult> run = lab_.Graph64(Traced(subject_.request));
  if (run) {
    graph64_ = *std::move(run);
  } else {
    graph64_error_ = run.error();
    notes_.push_back(
        std::format("the ONNX graph could not be computed in float64: {}",
                    run.error().message));
  }
  budgets_.clear();
  for (std::size_t i = 0; i < subject_.actual.size(); ++i) {
    const NamedTensors* const exact =
        reference64_ ? &reference64_->outputs : nullptr;
    // The float64 reference returns its outputs under the same names.
    const Tensor* expected64 = nullptr;
    if (exact != nullptr)
      expected64 = FindTensor(*exact, subject_.expected[i].name);
    budgets_.push_back(MeasureBudget(
        {.expected = At(&subject_.expected, i),
         .actual = At(&subject_.actual, i),
         .expected64 = expected64,
         .graph64 = graph64_
                        ? FindTensor(graph64_->outputs, subject_.actual[i].name)
                        : nullptr,
         .roundoff = roundoff_}));
  }
}

std::vector<Leg> Investigation::GuiltyLegs() const {
  struct Sized {
    Leg leg;
    double times;
  };
  std::vector<Sized> guilty;
  const auto times = [](const ErrorBudget& budget, Leg leg) {
    const std::optional<ErrorSize>& error =
        leg == Leg::kReference ? budget.reference
        : leg == Leg::kExport  ? budget.exported
                               : budget.runtime;
    if (error->nonfinite_disagreements > 0 || error->mismatches > 0 ||
        !std::isfinite(error->max))
      return 1e30;
    const double scale = std::max(budget.noise_max, 1e-300);
    return error->max / scale;
  };
  for (const ErrorBudget& budget : budgets_) {
    if (budget.verdict != NoiseVerdict::kBeyond) continue;
    for (const Leg leg : parity::GuiltyLegs(budget)) {
      const double size = times(budget, leg);
      const auto found = std::ranges::find(guilty, leg, &Sized::leg);
      if (found == guilty.end()) {
        guilty.push_back({.leg = leg, .times = size});
      } else {
        found->times = std::max(found->times, size);
      }
    }
  }
  std::ranges::stable_sort(guilty, std::greater<>(), &Sized::times);
  std::vector<Leg> legs;
  legs.reserve(guilty.size());
  for (const Sized& sized : guilty) legs.push_back(sized.leg);
  return legs;
}

std::vector<std::string> Investigation::WrongOutputs() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < budgets_.size(); ++i) {
    if (budgets_[i].verdict != NoiseVerdict::kWithin)
      names.push_back(subject_.actual[i].name);
  }
  return names;
}

// An experiment may give outputs of another scale than the validation saw.
NoiseBounds Investigation::NoiseAround(const Tensor& expected,
                                       std::size_t output) const {
  const ErrorBudget& budget = budgets_[output];
  NoiseBounds bounds{.rms = budget.noise_rms, .max = budget.noise_max};
  const double roundoff =
      std::max(roundoff_, UnitRoundoff(subject_.actual[output].tensor.dtype()));
  const Result<Comparison> self =
      parity::Compare(expected.view(), expected.view(),
                      {.atol = 0, .rtol = 0, .equal_nonfinite = true});
  if (!self) return bounds;
  const NoiseBounds floor =
      NoiseFloor(self->expected_rms, self->max_abs_expected, roundoff);
  bounds.rms = std::max(bounds.rms, floor.rms);
  bounds.max = std::max(bounds.max, floor.max);
  return bounds;
}

Agreement Investigation::CompareBy(const NamedTensors& expected,
                                   const NamedTensors& actual,
                                   bool by_model_names) const {
  Agreement agreement{.agrees = true};
  for (std::size_t i = 0; i < subject_.actual.size(); ++i) {
    const Tensor* const left =
        FindTensor(expected, by_model_names ? subject_.actual[i].name
                                            : subject_.expected[i].name);
    const Tensor* const right = FindTensor(actual, subject_.actual[i].name);
    if (left == nullptr || right == nullptr ||
        left->shape() != right->shape()) {
      agreement.agrees = false;
      continue;
    }
    const ErrorSize error = SizeOfError(*left, *right);
    agreement.max_error = std::max(agreement.max_error, error.max);
    if (!Within(error, NoiseAround(*left, i))) agreement.agrees = false;
  }
  return agreement;
}

Agreement Investigation::Compare(const NamedTensors& expected,
                                 const NamedTensors& actual) const {
  return CompareBy(expected, actual, /*by_model_names=*/false);
}

Agreement Investigation::CompareGraphs(const NamedTensors& expected,
                                       const NamedTensors& actual) const {
  return CompareBy(expected, actual, /*by_model_names=*/true);
}

Agreement Investigation::CompareWithTruth(const NamedTensors& actual) const {
  return graph64_ ? CompareGraphs(graph64_->outputs, actual)
                  : Compare(subject_.expected, actual);
}

Finding Investigation::MakeFinding(Cause cause, Confidence confidence,
                                   std::string message) const {
  Finding finding;
  finding.cause = cause;
  finding.confidence = confidence;
  finding.message = std::move(message);
  finding.case_name = subject_.name;
  finding.outputs = WrongOutputs();
  return finding;
}

void Investigation::Locate(Finding& finding, const std::string& label) const {
  if (label.empty()) return;
  finding.node = label;
  finding.module = ModulePathOf(label);
  const auto node = std::ranges::find_if(graph().nodes, [&](const Node& entry) {
    return NodeLabel(entry) == label;
  });
  if (node != graph().nodes.end()) finding.op = node->op_type;
}

}  // namespace parity
