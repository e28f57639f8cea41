#include "diagnose/local_errors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/noise_model.h"
#include "diagnose/selection.h"
#include "diagnose/selection_kinds.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// A kernel may be this much worse than libtorch's for the same node.
constexpr double kNativeFactor = 16;

using TraceIndex = std::unordered_map<std::string, const TracedValue*>;

// Nodes whose values are tapped together.
struct Window {
  std::vector<const Node*> nodes;
  std::set<std::string> taps;
  std::int64_t bytes = 0;
};

std::int64_t TappedBytes(const TracedValue& value) {
  // The trace is in float64, what is tapped mostly in float32.
  const std::int64_t element =
      value.dtype == DType::kFloat64 ? 4 : ByteSize(value.dtype);
  return value.sketch.element_count * element;
}

class WindowPlanner {
 public:
  WindowPlanner(const Graph& graph, const TraceIndex& trace,
                std::int64_t window_bytes)
      : graph_(graph), trace_(trace), window_bytes_(window_bytes) {}

  std::vector<Window> Plan() {
    for (const Node& node : graph_.nodes) {
      if (Examinable(node)) Add(node);
    }
    if (!window_.nodes.empty()) windows_.push_back(std::move(window_));
    return std::move(windows_);
  }
  [[nodiscard]] std::int64_t skipped() const { return skipped_; }

 private:
  bool Examinable(const Node& node) {
    if (node.op_type == "Constant") return false;
    const bool traced =
        std::ranges::all_of(node.outputs, [&](const std::string& output) {
          return output.empty() || trace_.contains(output);
        });
    // What nothing needs is not evaluated; nobody misses it.
    if (!traced) ++skipped_;
    return traced;
  }

  void Add(const Node& node) {
    std::vector<std::string> taps;
    std::int64_t bytes = 0;
    const auto tap = [&](const std::string& value) {
      const auto found = trace_.find(value);
      if (found == trace_.end()) return;  // an input or a constant
      taps.push_back(value);
      if (!window_.taps.contains(value)) bytes += TappedBytes(*found->second);
    };
    std::ranges::for_each(node.inputs, tap);
    std::ranges::for_each(node.outputs, tap);
    if (!window_.nodes.empty() && window_.bytes + bytes > window_bytes_)
      windows_.push_back(std::exchange(window_, {}));
    window_.nodes.push_back(&node);
    window_.taps.insert(taps.begin(), taps.end());
    window_.bytes += bytes;
  }

  const Graph& graph_;
  const TraceIndex& trace_;
  std::int64_t window_bytes_;
  Window window_;
  std::vector<Window> windows_;
  std::int64_t skipped_ = 0;
};

// What libtorch's kernel loses for the same inputs, the runtime's may lose,
// too; float32 overflows and truncates where float64 does not.
bool IsExcused(const LocalError& suspect) {
  ErrorSize error = suspect.local;
  if (error.nonfinite_disagreements <= suspect.native.nonfinite_disagreements)
    error.nonfinite_disagreements = 0;
  if (error.mismatches <= suspect.native.mismatches) error.mismatches = 0;
  return Within(error, {.rms = kNativeFactor * suspect.native.rms,
                        .max = kNativeFactor * suspect.native.max});
}

class LocalErrorSearch {
 public:
  LocalErrorSearch(const Investigation& investigation, LoadRequest candidate)
      : investigation_(investigation), candidate_(std::move(candidate)) {
    for (const TracedValue& value : investigation.graph64()->trace)
      trace_[value.name] = &value;
    for (const Node& node : investigation.graph().nodes) {
      for (const std::string& output : node.outputs) producers_[output] = &node;
    }
  }

  Result<LocalErrors> Run(std::int64_t window_bytes) {
    WindowPlanner planner(investigation_.graph(), trace_, window_bytes);
    const std::vector<Window> windows = planner.Plan();
    found_.skipped = planner.skipped();
    found_.tapping_changed_result = !windows.empty();
    std::optional<Error> failure;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      investigation_.lab().Progress(std::format(
          "explaining: node by node, part {} of {}", i + 1, windows.size()));
      // What one window holds may be beyond the runtime's taps; the others tell
      // something still.
      if (Status examined = Examine(windows[i]); !examined) {
        found_.skipped += std::ssize(windows[i].nodes);
        found_.tapping_changed_result = false;
        failure = std::move(examined).error();
      }
    }
    if (failure && found_.examined == 0)
      return std::unexpected(*std::move(failure));
    return std::move(found_);
  }

 private:
  Status Examine(const Window& window) {
    candidate_.taps.assign(window.taps.begin(), window.taps.end());
    RunRequest request{.inputs = investigation_.subject().request.inputs};
    request.output_names = candidate_.taps;
    for (const NamedTensor& output : investigation_.subject().actual) {
      if (!window.taps.contains(output.name))
        request.output_names.push_back(output.name);
    }
    PARITY_ASSIGN_OR_RETURN(
        const RunResult tapped,
        investigation_.lab().CandidateVariant(candidate_, request));
    if (!investigation_.CompareWithTruth(tapped.outputs).agrees)
      found_.tapping_changed_result = false;
    RunRequest local{.inputs = request.inputs};
    for (const std::string& name : candidate_.taps) {
      local.inputs.push_back(
          {.name = name, .tensor = *FindTensor(tapped.outputs, name)});
    }
    for (const Node* const node : window.nodes) {
      for (const std::string& output : node->outputs) {
        if (window.taps.contains(output)) local.output_names.push_back(output);
      }
    }
    PARITY_ASSIGN_OR_RETURN(const RunResult exact,
                            investigation_.lab().Graph64(local));
    found_.examined += std::ssize(window.nodes);
    return Judge(local, exact.outputs, tapped.outputs);
  }

  // Suspects are computed once more by libtorch in the node's own types: what
  // its kernel gets as wrong is the node's conditioning, not a fault.
  Status Judge(const RunRequest& local, const NamedTensors& exact,
               const NamedTensors& tapped) {
    std::vector<LocalError> suspects;
    for (const NamedTensor& value : exact) {
      const Tensor& actual = *FindTensor(tapped, value.name);
      const ErrorSize error = SizeOfError(value.tensor, actual);
      const NoiseBounds scale = ScaleOf(value.tensor);
      const double roundoff = std::max(UnitRoundoff(actual.dtype()),
                                       investigation_.working_roundoff());
      if (Within(error, NoiseFloor(scale.rms, scale.max, roundoff))) continue;
      const Node& node = *producers_.at(value.name);
      if (IsTie(node, local.inputs, tapped)) continue;
      suspects.push_back(
          {.node = NodeLabel(node),
           .op = node.op_type,
           .value = value.name,
           .local = error,
           .native = {},
           .scale_rms = scale.rms,
           .propagated = RelativeDistance(SketchOf(actual.view()),
                                          trace_.at(value.name)->sketch)});
    }
    if (suspects.empty()) return {};
    RunRequest again = local;
    again.output_names.clear();
    for (const LocalError& suspect : suspects)
      again.output_names.push_back(suspect.value);
    const Result<RunResult> native = investigation_.lab().GraphNative(again);
    for (LocalError& suspect : suspects) {
      if (native) {
        suspect.native =
            SizeOfError(*FindTensor(exact, suspect.value),
                        *FindTensor(native->outputs, suspect.value));
        if (IsExcused(suspect)) continue;
      }
      found_.wrong.push_back(std::move(suspect));
    }
    return {};
  }

  // Equal scores leave the choice open, on the same inputs, too, and so does an
  // operator that promises no order.
  [[nodiscard]] bool IsTie(const Node& node, const NamedTensors& given,
                           const NamedTensors& tapped) const {
    if (!IsSelection(node)) return false;
    std::vector<Tensor> scores;
    for (const std::string& input : node.inputs) {
      const Tensor* const tensor = FindTensor(given, input);
      if (tensor == nullptr) return false;
      scores.push_back(*tensor);
    }
    std::vector<Tensor> chosen;
    for (const std::string& output : node.outputs) {
      const Tensor* const tensor = FindTensor(tapped, output);
      chosen.push_back(tensor == nullptr ? Tensor() : *tensor);
    }
    const SelectionCheck check = CheckSelection(node, scores, chosen, 0);
    // Where no order is asked for, any is right.
    const bool is_unordered =
        node.op_type == "TopK" && IntegerAttributeOr(node, "sorted", 1) == 0;
    return check.is_tie || (is_unordered && check.flipped == 0);
  }

  const Investigation& investigation_;
  LoadRequest candidate_;
  TraceIndex trace_;
  std::unordered_map<std::string, const Node*> producers_;
  LocalErrors found_;
};

std::string AttributesText(const Node& node) {
  std::string text;
  for (const Attribute& attribute : node.attributes) {
    std::string value;
    if (const auto* const integer = std::get_if<std::int64_t>(&attribute.value))
      value = std::to_string(*integer);
    if (const auto* const number = std::get_if<float>(&attribute.value))
      value = std::format("{:g}", *number);
    if (const auto* const string = std::get_if<std::string>(&attribute.value))
      value = *string;
    if (const auto* const integers =
            std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
      for (const std::int64_t entry : *integers)
        value += (value.empty() ? "" : ",") + std::to_string(entry);
    }
    if (value.empty()) continue;
    text +=
        std::format("{}{}={}", text.empty() ? "" : " ", attribute.name, value);
  }
  return text;
}

double Severity(const LocalError& error) {
  if (error.local.nonfinite_disagreements > 0 || error.local.mismatches > 0)
    return 1e30;
  return error.local.rms / std::max(error.scale_rms, 1e-300);
}

Evidence Describe(std::string name, const LocalError& error) {
  std::string text = std::format(
      "{} ({}): local error {} (rms {}) at scale {}; libtorch's own for this "
      "node {}; relative distance of the value from float64 {}",
      error.node, error.op, Text(error.local.max), Text(error.local.rms),
      Text(error.scale_rms), Text(error.native.max), Text(error.propagated));
  if (error.local.nonfinite_disagreements > 0)
    text += std::format("; not finite on one side only at {} elements",
                        error.local.nonfinite_disagreements);
  if (error.local.mismatches > 0)
    text += std::format("; {} elements differ", error.local.mismatches);
  return {.name = std::move(name), .value = std::move(text)};
}

}  // namespace

Result<LocalErrors> FindLocalErrors(const Investigation& investigation,
                                    const LoadRequest& candidate,
                                    std::int64_t window_bytes) {
  if (investigation.graph64() == nullptr) {
    return Fail(ErrorCode::kUnsupported,
                investigation.graph64_error()
                    ? investigation.graph64_error()->message
                    : "the float64 graph was not computed");
  }
  return LocalErrorSearch(investigation, candidate).Run(window_bytes);
}

bool AddLocalErrors(const Investigation& investigation,
                    const LoadRequest& candidate, std::int64_t window_bytes,
                    Finding& finding) {
  const Result<LocalErrors> errors =
      FindLocalErrors(investigation, candidate, window_bytes);
  if (!errors) {
    finding.evidence.push_back(
        {.name = "node by node", .value = errors.error().message});
    return false;
  }
  finding.evidence.push_back(
      {.name = "nodes examined", .value = std::to_string(errors->examined)});
  if (errors->skipped > 0)
    finding.evidence.push_back({.name = "nodes that could not be examined",
                                .value = std::to_string(errors->skipped)});
  if (errors->tapping_changed_result)
    finding.evidence.push_back(
        {.name = "tapping",
         .value = "with intermediate values tapped the outputs are right: the "
                  "fault needs the fused graph"});
  if (errors->wrong.empty()) return true;
  const LocalError& first = errors->wrong.front();
  const LocalError& worst =
      *std::ranges::max_element(errors->wrong, {}, Severity);
  investigation.Locate(finding, first.node);
  finding.evidence.push_back(
      {.name = "wrong nodes", .value = std::to_string(errors->wrong.size())});
  finding.evidence.push_back(Describe("first wrong node", first));
  if (worst.node != first.node)
    finding.evidence.push_back(Describe("worst node", worst));
  for (const Node& node : investigation.graph().nodes) {
    if (NodeLabel(node) != first.node) continue;
    if (std::string text = AttributesText(node); !text.empty())
      finding.evidence.push_back(
          {.name = "its attributes", .value = std::move(text)});
  }
  return true;
}

}  // namespace parity
