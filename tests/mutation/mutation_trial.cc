#include "mutation_trial.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "fault_planting.h"
#include "formats/onnx/onnx_writer.h"
#include "formats/safetensors/safetensors_reader.h"
#include "graph/model.h"
#include "mutation_subject.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/inference_session.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A tensor of its own: the session's goes with it.
Result<NamedTensors> CopyOf(const NamedTensors& tensors) {
  NamedTensors copies;
  for (const auto& [name, tensor] : tensors) {
    PARITY_ASSIGN_OR_RETURN(
        Tensor copy,
        Tensor::Copy(tensor.dtype(), tensor.shape(), tensor.bytes()));
    copies.push_back({.name = name, .tensor = std::move(copy)});
  }
  return copies;
}

double RelativeDifference(const Tensor& expected, const Tensor& actual) {
  const auto compared =
      Compare(expected.view(), actual.view(), {.atol = 0, .rtol = 0});
  if (!compared || compared->nonfinite_disagreements > 0) return kInfinite;
  if (compared->mismatch_count == 0) return 0;
  // Of integers and booleans every difference counts.
  if (!IsFloating(expected.dtype()) || compared->max_abs_expected == 0)
    return kInfinite;
  return compared->max_abs_error / compared->max_abs_expected;
}

std::string KeyOf(const Node& node) {
  if (!node.name.empty() || node.outputs.empty()) return node.name;
  return node.outputs[0];
}

bool IsPlanted(const PlantedFault& fault, std::string_view node) {
  return node == fault.node || std::ranges::contains(fault.added, node);
}

// Whether one of the planted nodes uses what `node` computes, or the other way
// round.
bool IsNeighbour(const PlantedFault& fault, std::string_view node) {
  std::unordered_set<std::string_view> used;
  std::unordered_set<std::string_view> computed;
  const Node* reported = nullptr;
  for (const Node& candidate : fault.model.graph.nodes) {
    if (IsPlanted(fault, KeyOf(candidate))) {
      used.insert(candidate.inputs.begin(), candidate.inputs.end());
      computed.insert(candidate.outputs.begin(), candidate.outputs.end());
    }
    if (KeyOf(candidate) == node) reported = &candidate;
  }
  return reported != nullptr &&
         (std::ranges::any_of(
              reported->outputs,
              [&](const auto& value) { return used.contains(value); }) ||
          std::ranges::any_of(reported->inputs, [&](const auto& value) {
            return computed.contains(value);
          }));
}

// Whether a list of names such as "a, b and 3 more" has one of the planted.
bool Lists(const Finding& finding, const PlantedFault& fault) {
  for (const Evidence& evidence : finding.evidence) {
    if (evidence.name != "nodes without a counterpart from there" &&
        evidence.name != "other suspects")
      continue;
    std::string_view names = evidence.value;
    if (names.ends_with(" more")) names = names.substr(0, names.rfind(" and "));
    for (const auto part : std::views::split(names, std::string_view(", "))) {
      if (IsPlanted(fault, std::string_view(part.begin(), part.end())))
        return true;
    }
  }
  return false;
}

Location Locate(const Finding& finding, const PlantedFault& fault,
                FaultKind kind) {
  // Exchanged outputs are named; there is no node that computes anything wrong.
  if (kind == FaultKind::kOutputOrder) {
    const bool is_named = finding.cause == Cause::kContract &&
                          std::ranges::contains(finding.outputs, fault.value);
    return is_named ? Location::kExact : Location::kNone;
  }
  if (IsPlanted(fault, finding.node)) return Location::kExact;
  if (IsNeighbour(fault, finding.node)) return Location::kNeighbour;
  if (Lists(finding, fault)) return Location::kListed;
  return finding.node.empty() ? Location::kNone : Location::kWrong;
}

}  // namespace

Effect EffectOf(double relative_difference) {
  if (relative_difference <= kNoiseEffect) return Effect::kEquivalent;
  return relative_difference < kVisibleEffect ? Effect::kFaint
                                              : Effect::kVisible;
}

std::string_view Name(Effect effect) {
  constexpr std::string_view kNames[] = {"equivalent", "faint", "visible"};
  return kNames[static_cast<std::size_t>(effect)];
}

std::string_view Name(Location location) {
  constexpr std::string_view kNames[] = {"exact", "neighbour", "listed",
                                         "wrong", "none"};
  return kNames[static_cast<std::size_t>(location)];
}

Result<TrialRunner> TrialRunner::Open(const MutationSubject& subject,
                                      const std::filesystem::path& folder) {
  TrialRunner runner(subject, folder / "model.onnx");
  for (const std::filesystem::path& path : subject.inputs) {
    PARITY_ASSIGN_OR_RETURN(SafetensorsFile file, ReadSafetensorsFile(path));
    runner.inputs_.push_back(std::move(file.tensors));
  }
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(subject.model, runner.model_));
  PARITY_ASSIGN_OR_RETURN(runner.correct_, runner.Compute());
  return runner;
}

Result<std::vector<NamedTensors>> TrialRunner::Compute() const {
  PARITY_ASSIGN_OR_RETURN(InferenceSession session,
                          InferenceSession::Open(model_));
  std::vector<NamedTensors> outputs;
  for (const NamedTensors& inputs : inputs_) {
    PARITY_ASSIGN_OR_RETURN(const NamedTensors run, session.Run({}, inputs));
    PARITY_ASSIGN_OR_RETURN(outputs.emplace_back(), CopyOf(run));
  }
  return outputs;
}

double TrialRunner::MeasureEffect() const {
  const auto outputs = Compute();
  if (!outputs) return kInfinite;
  double largest = 0;
  for (std::size_t i = 0; i < correct_.size(); ++i) {
    for (const auto& [name, tensor] : correct_[i]) {
      const Tensor* const other = FindTensor((*outputs)[i], name);
      largest = std::max(largest, other == nullptr
                                      ? kInfinite
                                      : RelativeDifference(tensor, *other));
    }
  }
  return largest;
}

Result<ValidationResult> TrialRunner::Judge(
    const std::string& optimization) const {
  ValidationOptions options;
  options.model = model_;
  options.reference = subject_.reference;
  options.runtime.optimization = optimization;
  options.cases.inputs = subject_.inputs;
  options.criterion = Criterion::kNoise;
  return Validate(options);
}

Result<MutantRecord> TrialRunner::RunMutant(const PlantedFault& fault,
                                            FaultKind kind,
                                            std::uint64_t seed) const {
  const Clock::time_point start = Clock::now();
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(fault.model, model_));
  MutantRecord record = {.subject = subject_.name,
                         .kind = kind,
                         .seed = seed,
                         .way = fault.way,
                         .node = fault.node,
                         .description = fault.description,
                         .effect = MeasureEffect(),
                         .cause = {},
                         .reported = {},
                         .message = {}};
  PARITY_ASSIGN_OR_RETURN(const ValidationResult result, Judge("all"));
  record.detected = result.verdict() == Verdict::kFailed;
  if (!result.findings.empty()) {
    const Finding& finding = result.findings.front();
    record.location = Locate(finding, fault, kind);
    record.cause = Name(finding.cause);
    record.reported = finding.node;
    record.message = finding.message;
  }
  record.seconds = SecondsSince(start);
  return record;
}

Result<BenignRecord> TrialRunner::RunBenign(const BenignForm& form) const {
  const Clock::time_point start = Clock::now();
  PARITY_ASSIGN_OR_RETURN(const Model model, form.make());
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(model, model_));
  PARITY_ASSIGN_OR_RETURN(const ValidationResult result,
                          Judge(form.optimization));
  BenignRecord record = {.subject = subject_.name,
                         .form = form.name,
                         .alarm = result.verdict() != Verdict::kPassed,
                         .reason = {}};
  if (record.alarm) {
    const std::vector<std::string> reasons = result.Reasons();
    record.reason = reasons.empty() ? "undecided" : reasons.front();
  }
  record.seconds = SecondsSince(start);
  return record;
}

}  // namespace parity
