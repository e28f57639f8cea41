#include "diagnose/culprit.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/local_errors.h"
#include "diagnose/noise_model.h"
#include "diagnose/rounded_tensor.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "graph/subgraph_extraction.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

// Larger pieces are no easier to look at than the whole.
constexpr std::size_t kMostNodes = 6;
// The setting that is right may be this much nearer to float64.
constexpr double kControlFactor = 16;

bool IsOfRuntime(Cause cause) {
  return cause == Cause::kRuntime || cause == Cause::kProvider ||
         cause == Cause::kOptimizer || cause == Cause::kNondeterministic;
}

ValueInfo TypeOf(const std::string& name, const Tensor& tensor) {
  ValueInfo info{.name = name,
                 .dtype = tensor.dtype(),
                 .shape = std::vector<Dimension>(),
                 .other_type = ""};
  for (const std::int64_t size : tensor.shape())
    info.shape->push_back({.value = size, .name = ""});
  return info;
}

std::optional<std::size_t> FindNode(const Graph& graph,
                                    const std::string& label) {
  if (label.empty()) return std::nullopt;
  const auto found = std::ranges::find(
      graph.nodes, label, [](const Node& node) { return NodeLabel(node); });
  if (found == graph.nodes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - graph.nodes.begin());
}

// A node and what it is computed from, the nearest first, without constants.
std::vector<std::size_t> WithPredecessors(const Graph& graph,
                                          std::size_t target) {
  std::unordered_map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs)
      producers[output] = i;
  }
  std::vector<std::size_t> order = {target};
  for (std::size_t next = 0; next < order.size() && order.size() < kMostNodes;
       ++next) {
    std::set<std::size_t, std::greater<>> before;
    const std::size_t node = order[next];
    for (const std::string& name : ValuesNeeded(graph, {&node, 1})) {
      const auto producer = producers.find(name);
      if (producer != producers.end()) before.insert(producer->second);
    }
    for (const std::size_t index : before) {
      if (!std::ranges::contains(order, index)) order.push_back(index);
    }
  }
  if (order.size() > kMostNodes) order.resize(kMostNodes);
  return order;
}

// The outputs of a node that somebody uses; all when nobody does.
std::vector<std::string> OutputsInUse(const Graph& graph, const Node& node) {
  std::unordered_set<std::string> used;
  for (const ValueInfo& output : graph.outputs) used.insert(output.name);
  for (const Node& other : graph.nodes) {
    for (std::string& name : NamesUsed(other)) used.insert(std::move(name));
  }
  std::vector<std::string> outputs;
  std::vector<std::string> all;
  for (const std::string& output : node.outputs) {
    if (output.empty()) continue;
    all.push_back(output);
    if (used.contains(output)) outputs.push_back(output);
  }
  return outputs.empty() ? all : outputs;
}

class CulpritWriter {
 public:
  CulpritWriter(const CulpritQuestion& question, std::filesystem::path path)
      : question_(question), path_(std::move(path)) {}

  Result<Culprit> Write() {
    question_.lab.Progress("writing the repro");
    // A trace tells the reference's inner values apart, not what they are.
    std::string why_whole =
        "what the reference computes inside was not kept, only its outputs";
    if (IsOfRuntime(question_.finding.cause)) {
      std::optional<Culprit> piece = WritePiece(why_whole);
      if (piece) return *std::move(piece);
    }
    return WriteWhole(std::move(why_whole));
  }

 private:
  [[nodiscard]] const Graph& graph() const { return question_.model.graph; }
  [[nodiscard]] const NamedTensors& case_inputs() const {
    return question_.subject.request.inputs;
  }
  [[nodiscard]] LoadRequest Candidate() const {
    return question_.lab.options().candidate;
  }

  // The node alone, then with more and more of what it is computed from.
  std::optional<Culprit> WritePiece(std::string& why_whole) {
    const std::optional<std::size_t> target =
        FindNode(graph(), question_.finding.node);
    if (!target) {
      why_whole = "no single node was found to be wrong";
      return std::nullopt;
    }
    const std::vector<std::size_t> order = WithPredecessors(graph(), *target);
    for (std::size_t size = 1; size <= order.size(); ++size) {
      std::vector<std::size_t> nodes(
          order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size));
      std::ranges::sort(nodes);
      Result<Culprit> piece = Cut(nodes, graph().nodes[*target]);
      if (!piece) {
        why_whole = std::format("{} could not be cut out: {}",
                                question_.finding.node, piece.error().message);
      } else if (Shows(*piece)) {
        return *std::move(piece);
      } else {
        why_whole =
            std::format("{} is right by itself{}", question_.finding.node,
                        size > 1 ? ", and with the nodes before it" : "");
      }
    }
    return std::nullopt;
  }

  // Writes the nodes as a model, on the runtime's own values.
  Result<Culprit> Cut(const std::vector<std::size_t>& nodes,
                      const Node& target) {
    Culprit piece{.nodes = {},
                  .why_whole = "",
                  .inputs = {},
                  .expected = {},
                  .expected_is_float64 = true,
                  .actual = {}};
    const std::vector<std::string> needed = ValuesNeeded(graph(), nodes);
    const std::vector<std::string> outputs = OutputsInUse(graph(), target);
    PARITY_ASSIGN_OR_RETURN(const NamedTensors tapped, Tap(needed, outputs));
    Extraction extraction{.nodes = nodes, .inputs = {}, .outputs = {}};
    for (const std::string& name : needed) {
      const Tensor* tensor = FindTensor(case_inputs(), name);
      if (tensor == nullptr) tensor = FindTensor(tapped, name);
      piece.inputs.push_back({.name = name, .tensor = *tensor});
      extraction.inputs.push_back(TypeOf(name, *tensor));
    }
    RunRequest local{.inputs = piece.inputs};
    local.output_names = outputs;
    PARITY_ASSIGN_OR_RETURN(const RunResult exact,
                            question_.lab.Graph64(local));
    for (const std::string& name : outputs) {
      const Tensor& wrong = *FindTensor(tapped, name);
      extraction.outputs.push_back(TypeOf(name, wrong));
      piece.expected.push_back(
          {.name = name,
           .tensor =
               RoundedTo(*FindTensor(exact.outputs, name), wrong.dtype())});
    }
    for (const std::size_t index : nodes)
      piece.nodes.push_back(NodeLabel(graph().nodes[index]));
    PARITY_RETURN_IF_ERROR(
        WriteOnnxModel(ExtractNodes(question_.model, extraction), path_));
    PARITY_ASSIGN_OR_RETURN(piece.actual, Replay(piece, Candidate()));
    return piece;
  }

  // The runtime's values of what is no input of the case.
  Result<NamedTensors> Tap(const std::vector<std::string>& needed,
                           const std::vector<std::string>& outputs) {
    LoadRequest load = Candidate();
    load.taps = outputs;
    for (const std::string& name : needed) {
      if (FindTensor(case_inputs(), name) == nullptr) load.taps.push_back(name);
    }
    PARITY_ASSIGN_OR_RETURN(
        RunResult run,
        question_.lab.CandidateVariant(
            load, {.inputs = case_inputs(), .output_names = load.taps}));
    return std::move(run.outputs);
  }

  Result<NamedTensors> Replay(const Culprit& culprit, LoadRequest load) {
    load.path = path_.string();
    RunRequest request{.inputs = culprit.inputs};
    for (const NamedTensor& output : culprit.expected)
      request.output_names.push_back(output.name);
    PARITY_ASSIGN_OR_RETURN(RunResult run,
                            question_.lab.CandidateVariant(load, request));
    return std::move(run.outputs);
  }

  [[nodiscard]] ReplayError Measure(const Culprit& culprit,
                                    const NamedTensors& actual) const {
    return MeasureReplay(culprit.expected, actual, WorkingRoundoff(graph()));
  }

  // Whether the piece is wrong, and right with the setting that the finding
  // says the whole is right with.
  bool Shows(const Culprit& piece) {
    const ReplayError error = Measure(piece, piece.actual);
    if (!error.beyond_noise) return false;
    LoadRequest control = Candidate();
    switch (question_.finding.cause) {
      case Cause::kOptimizer:
        control.optimization = "disabled";
        break;
      case Cause::kProvider:
        control.provider = kCpuProviderName;
        break;
      default:
        return true;
    }
    const Result<NamedTensors> right = Replay(piece, control);
    if (!right) return false;
    const ReplayError remaining = Measure(piece, *right);
    return !remaining.beyond_noise ||
           (!remaining.broken &&
            remaining.max_error * kControlFactor < error.max_error);
  }

  Result<Culprit> WriteWhole(std::string why_whole) {
    Culprit whole{.nodes = {},
                  .why_whole = std::move(why_whole),
                  .inputs = case_inputs(),
                  .expected = {},
                  .expected_is_float64 = false,
                  .actual = {}};
    SetTruth(whole);
    if (whole.expected.empty())
      return Fail(ErrorCode::kUnsupported, "no outputs of it were compared");
    PARITY_RETURN_IF_ERROR(WriteOnnxModel(question_.model, path_));
    PARITY_ASSIGN_OR_RETURN(whole.actual, Replay(whole, Candidate()));
    if (!Measure(whole, whole.actual).beyond_noise) {
      return Fail(ErrorCode::kUnsupported,
                  "the finding does not show when the model runs alone on the "
                  "inputs of the case and its outputs are compared");
    }
    return whole;
  }

  // What the model should give. The runtime is measured against its own graph,
  // everything else against the reference.
  void SetTruth(Culprit& whole) {
    const NamedTensors& actual = question_.subject.actual;
    if (IsOfRuntime(question_.finding.cause)) {
      const Result<RunResult> exact =
          question_.lab.Graph64({.inputs = case_inputs()});
      whole.expected_is_float64 = exact.has_value();
      for (const NamedTensor& output : actual) {
        const Tensor* const truth =
            exact ? FindTensor(exact->outputs, output.name) : nullptr;
        if (truth == nullptr) continue;
        whole.expected.push_back(
            {.name = output.name,
             .tensor = RoundedTo(*truth, output.tensor.dtype())});
      }
    }
    if (!whole.expected.empty()) return;
    whole.expected_is_float64 = false;
    for (std::size_t i = 0; i < actual.size(); ++i) {
      const Tensor& truth = question_.subject.expected[i].tensor;
      // A dtype may be the very thing that is wrong.
      const bool as_it_is = question_.finding.cause == Cause::kContract;
      whole.expected.push_back(
          {.name = actual[i].name,
           .tensor =
               as_it_is ? truth : RoundedTo(truth, actual[i].tensor.dtype())});
    }
  }

  const CulpritQuestion& question_;
  std::filesystem::path path_;
};

}  // namespace

Result<Culprit> WriteCulprit(const CulpritQuestion& question,
                             const std::filesystem::path& path) {
  return CulpritWriter(question, path).Write();
}

ReplayError MeasureReplay(const NamedTensors& expected,
                          const NamedTensors& actual, double roundoff) {
  constexpr Tolerance kExact{.atol = 0, .rtol = 0, .equal_nonfinite = true};
  ReplayError total;
  for (const NamedTensor& output : expected) {
    const Tensor* const other = FindTensor(actual, output.name);
    if (other == nullptr || other->dtype() != output.tensor.dtype()) {
      total.broken = true;
      continue;
    }
    const Result<Comparison> comparison =
        Compare(output.tensor.view(), other->view(), kExact);
    if (!comparison || comparison->nonfinite_disagreements > 0)
      total.broken = true;
    if (!comparison) continue;
    total.max_error = std::max(total.max_error, comparison->max_abs_error);
    const NoiseBounds floor =
        NoiseFloor(comparison->expected_rms, comparison->max_abs_expected,
                   std::max(roundoff, UnitRoundoff(other->dtype())));
    if (!Within(SizeOfError(output.tensor, *other), floor))
      total.beyond_noise = true;
  }
  total.beyond_noise = total.beyond_noise || total.broken;
  return total;
}

}  // namespace parity
