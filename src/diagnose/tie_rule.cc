#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/noise_model.h"
#include "diagnose/operator_kinds.h"
#include "diagnose/pinned_selections.h"
#include "diagnose/rules.h"
#include "diagnose/selection.h"
#include "diagnose/selection_kinds.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// Scores that were computed in float32 are this many roundoffs uncertain, at
// least.
constexpr double kScoreRoundoffs = 16;
// And no more than this many times as uncertain as libtorch's.
constexpr double kNativeFactor = 16;

class TieSearch {
 public:
  explicit TieSearch(const Investigation& investigation)
      : investigation_(investigation),
        nodes_(SelectionNodes(investigation.graph())) {}

  std::optional<Finding> Run() {
    if (nodes_.empty() || investigation_.graph64() == nullptr ||
        IsWrongElsewhere())
      return std::nullopt;
    if (!PinToCandidate() || !PinToReference()) return std::nullopt;
    MeasureNative();
    if (!FlipsAreTies()) return std::nullopt;
    return Describe();
  }

 private:
  // An output that no selection can have moved is beyond noise.
  [[nodiscard]] bool IsWrongElsewhere() const {
    std::unordered_set<std::string> selected;
    for (const Node& node : investigation_.graph().nodes) {
      const bool moved =
          std::ranges::contains(nodes_, &node) ||
          std::ranges::any_of(node.inputs, [&](const std::string& input) {
            return selected.contains(input);
          });
      if (moved) selected.insert(node.outputs.begin(), node.outputs.end());
    }
    return std::ranges::any_of(
        investigation_.WrongOutputs(),
        [&](const std::string& name) { return !selected.contains(name); });
  }

  // Names that the float64 graph is asked for: its outputs and the scores.
  [[nodiscard]] std::vector<std::string> Wanted() const {
    std::vector<std::string> names;
    for (const NamedTensor& output : investigation_.subject().actual)
      names.push_back(output.name);
    for (const Node* const node : nodes_) {
      for (const std::string& input : node->inputs) {
        if (IsComputed(input) && !std::ranges::contains(names, input))
          names.push_back(input);
      }
    }
    return names;
  }

  [[nodiscard]] bool IsComputed(const std::string& value) const {
    return std::ranges::contains(investigation_.graph64()->trace, value,
                                 &TracedValue::name);
  }

  std::optional<Pinned> Pin(NamedTensors pins) const {
    RunRequest request{.inputs = investigation_.subject().request.inputs,
                       .output_names = Wanted()};
    // A value that is both pinned and wanted would be computed.
    for (const NamedTensor& pin : pins) {
      std::erase(request.output_names, pin.name);
      request.inputs.push_back(pin);
    }
    Result<RunResult> run = investigation_.lab().Graph64(request);
    if (!run) return std::nullopt;
    Pinned pinned{.pins = std::move(pins), .outputs = std::move(run->outputs)};
    for (const NamedTensor& pin : pinned.pins) pinned.outputs.push_back(pin);
    return pinned;
  }

  bool PinToCandidate() {
    LoadRequest load = investigation_.lab().options().candidate;
    for (const Node* const node : nodes_) {
      for (const std::string& output : node->outputs) {
        if (!output.empty() && IsComputed(output)) load.taps.push_back(output);
      }
    }
    std::vector<std::string> selections = load.taps;
    for (const Node* const node : nodes_) {
      for (const std::string& input : node->inputs) {
        if (IsComputed(input) && !std::ranges::contains(load.taps, input))
          load.taps.push_back(input);
      }
    }
    RunRequest request{.inputs = investigation_.subject().request.inputs,
                       .output_names = load.taps};
    for (const NamedTensor& output : investigation_.subject().actual) {
      if (!std::ranges::contains(request.output_names, output.name))
        request.output_names.push_back(output.name);
    }
    const auto run = investigation_.lab().CandidateVariant(load, request);
    if (!run) return false;
    tapped_ = run->outputs;
    NamedTensors pins;
    for (const std::string& name : selections)
      pins.push_back({.name = name, .tensor = *FindTensor(tapped_, name)});
    std::optional<Pinned> pinned = Pin(std::move(pins));
    if (!pinned) return false;
    candidate_ = *std::move(pinned);
    const Agreement agreement =
        investigation_.CompareGraphs(candidate_.outputs, tapped_);
    pinned_error_ = agreement.max_error;
    return agreement.agrees;
  }

  // The reference's own selections, from its float32 trace, in the order of
  // the graph's nodes of the kind. A selection without a counterpart is left to
  // the float64 graph.
  [[nodiscard]] NamedTensors SelectionsOfReference() const {
    NamedTensors pins;
    if (!investigation_.lab().has_reference()) return pins;
    RunRequest request = investigation_.subject().request;
    request.trace = true;
    const auto run = investigation_.lab().Reference(request);
    if (!run) return pins;
    std::size_t next = 0;
    for (const Node* const node : nodes_) {
      for (const std::string& output : node->outputs) {
        const Tensor* const chosen = FindTensor(tapped_, output);
        if (chosen == nullptr || IsFloating(chosen->dtype())) continue;
        for (std::size_t i = next; i < run->trace.size(); ++i) {
          const TracedValue& value = run->trace[i];
          if (!value.tensor || value.shape != chosen->shape() ||
              value.dtype != chosen->dtype() ||
              !IsCounterpart(node->op_type, value.op))
            continue;
          pins.push_back({.name = output, .tensor = *value.tensor});
          next = i + 1;
          break;
        }
      }
    }
    return pins;
  }

  bool PinToReference() {
    std::optional<Pinned> pinned = Pin(SelectionsOfReference());
    if (pinned && Explains(*pinned)) {
      reference_ = *std::move(pinned);
      return true;
    }
    // Perhaps the traces were matched wrongly; float64 may choose as it did.
    pinned = Pin({});
    if (!pinned || !Explains(*pinned)) return false;
    reference_ = *std::move(pinned);
    return true;
  }

  [[nodiscard]] bool Explains(const Pinned& pinned) const {
    return investigation_
        .Compare(investigation_.subject().expected, pinned.outputs)
        .agrees;
  }

  // libtorch's kernels, with the candidate's selections: how far scores of
  // these types may be off.
  void MeasureNative() {
    RunRequest request{.inputs = investigation_.subject().request.inputs};
    for (const NamedTensor& value : candidate_.outputs) {
      if (FindTensor(candidate_.pins, value.name) == nullptr)
        request.output_names.push_back(value.name);
    }
    for (const NamedTensor& pin : candidate_.pins)
      request.inputs.push_back(pin);
    if (auto run = investigation_.lab().GraphNative(request))
      native_ = std::move(run->outputs);
  }

  // What the candidate's error in a score may be without a fault of its own;
  // `floor` where libtorch's is not known.
  [[nodiscard]] double Allowed(const std::string& score, const Tensor& exact,
                               double floor) const {
    const Tensor* const native = FindTensor(native_, score);
    if (native == nullptr || native->shape() != exact.shape()) return floor;
    return kNativeFactor * SizeOfError(exact, *native).max;
  }

  // How far the candidate's float32 scores are from float64's, as far as that
  // is no fault: a wrong score is not equal to another.
  [[nodiscard]] double ScoreNoise(const Node& node) const {
    double noise = 0;
    for (const std::string& input : node.inputs) {
      const Tensor* const actual = FindTensor(tapped_, input);
      const Tensor* const exact = FindTensor(candidate_.outputs, input);
      if (actual == nullptr || exact == nullptr ||
          !IsFloating(exact->dtype()) || actual->shape() != exact->shape())
        continue;
      const ErrorSize error = SizeOfError(*exact, *actual);
      const auto self = Compare(exact->view(), exact->view(), {});
      const double scale = self ? self->max_abs_expected : 0;
      const double roundoff = std::max(UnitRoundoff(actual->dtype()),
                                       investigation_.working_roundoff());
      const double floor = NoiseFloor(0, scale, roundoff).max;
      noise = std::max({noise,
                        2 * std::min(error.max, Allowed(input, *exact, floor)),
                        kScoreRoundoffs * roundoff * scale});
    }
    return noise;
  }

  // The node's inputs in float64, after the selections that the side made
  // before.
  [[nodiscard]] std::optional<std::vector<Tensor>> Scores(
      const Node& node, const Pinned& pinned) const {
    std::vector<Tensor> scores;
    for (const std::string& input : node.inputs) {
      const Tensor* found = FindTensor(pinned.outputs, input);
      if (found == nullptr)
        found = FindTensor(investigation_.subject().request.inputs, input);
      if (found == nullptr) {
        const auto constant = std::ranges::find(
            investigation_.graph().initializers, input, &Initializer::name);
        if (constant != investigation_.graph().initializers.end())
          found = &constant->tensor;
      }
      if (found == nullptr && !input.empty()) return std::nullopt;
      scores.push_back(found == nullptr ? Tensor() : *found);
    }
    return scores;
  }

  // Every selection that float64 would make otherwise is one between scores
  // that are equal within their noise.
  bool FlipsAreTies() {
    return std::ranges::all_of(nodes_, [this](const Node* node) {
      const double noise = ScoreNoise(*node);
      return IsTie(*node, candidate_, noise) && IsTie(*node, reference_, noise);
    });
  }

  bool IsTie(const Node& node, const Pinned& pinned, double noise) {
    std::vector<Tensor> chosen;
    for (const std::string& output : node.outputs) {
      const Tensor* const tensor = FindTensor(pinned.pins, output);
      chosen.push_back(tensor == nullptr ? Tensor() : *tensor);
    }
    // Not pinned: float64 chose.
    const bool pinned_here = std::ranges::any_of(
        chosen,
        [](const Tensor& tensor) { return tensor.element_count() > 0; });
    const auto scores = Scores(node, pinned);
    if (!pinned_here) return true;
    // Nobody can say how far apart the scores were.
    if (!scores) return false;
    const SelectionCheck check = CheckSelection(node, *scores, chosen, noise);
    if (check.flipped == 0) return true;
    flipped_ += check.flipped;
    gap_ = std::max(gap_, check.gap);
    noise_ = std::max(noise_, noise);
    if (node_.empty()) node_ = NodeLabel(node);
    return check.is_tie;
  }

  // What is left of the difference of output `i` where the two selections give
  // the same in float64.
  struct Residual {
    double max = 0;
    std::int64_t affected = 0;  // elements that depend on the selection
  };
  [[nodiscard]] Residual ResidualOf(std::size_t i) const {
    const Subject& subject = investigation_.subject();
    const std::string& name = subject.actual[i].name;
    const Tensor* const mine = FindTensor(candidate_.outputs, name);
    const Tensor* const theirs = FindTensor(reference_.outputs, name);
    if (mine == nullptr || theirs == nullptr)
      return {.max = std::numeric_limits<double>::infinity()};
    const std::vector<double> a = ElementsAsDoubles(*mine);
    const std::vector<double> b = ElementsAsDoubles(*theirs);
    const std::vector<double> x = ElementsAsDoubles(subject.expected[i].tensor);
    const std::vector<double> y = ElementsAsDoubles(subject.actual[i].tensor);
    // The two are the same float64 computation but for the selection.
    const double same = 1e-6 * investigation_.budgets()[i].noise_max;
    Residual residual;
    for (std::size_t j = 0;
         j < std::min({a.size(), b.size(), x.size(), y.size()}); ++j) {
      // Written so that NaN counts as moved by the selection only when it is.
      if (std::abs(a[j] - b[j]) > same) {
        ++residual.affected;
      } else if (x[j] != y[j] && !(std::isnan(x[j]) && std::isnan(y[j]))) {
        residual.max = std::max(residual.max, std::abs(x[j] - y[j]));
      }
    }
    return residual;
  }

  [[nodiscard]] Finding Describe() const {
    std::int64_t affected = 0;
    double outside = 0;
    std::vector<double> residuals;
    for (std::size_t i = 0; i < investigation_.subject().actual.size(); ++i) {
      const Residual residual = ResidualOf(i);
      affected += residual.affected;
      outside = std::max(outside, residual.max);
      residuals.push_back(residual.max);
    }
    Finding finding = investigation_.MakeFinding(
        Cause::kTie, Confidence::kCertain,
        std::format(
            "selections between scores that are equal within noise came "
            "out differently ({} cells, {} elements of the outputs); "
            "outside them the largest difference is {}",
            Differing(), affected, Text(outside)));
    finding.fails = false;
    finding.outputs.clear();
    for (const NamedTensor& output : investigation_.subject().actual)
      finding.outputs.push_back(output.name);
    finding.residuals = std::move(residuals);
    if (!node_.empty()) investigation_.Locate(finding, node_);
    finding.evidence = {
        {.name = "cells selected otherwise than by the reference",
         .value = std::to_string(Differing())},
        {.name = "largest score gap at a differing cell", .value = Text(gap_)},
        {.name = "noise of the scores", .value = Text(noise_)},
        {.name = "elements that depend on the selection",
         .value = std::to_string(affected)},
        {.name = "max difference outside them", .value = Text(outside)},
        {.name = "max error with the selection pinned",
         .value = Text(pinned_error_)}};
    return finding;
  }

  // Cells that the candidate's selections pick otherwise.
  [[nodiscard]] std::int64_t Differing() const {
    const std::int64_t differing =
        DifferingCells(reference_.pins, candidate_.pins);
    return differing > 0 ? differing : flipped_;
  }

  const Investigation& investigation_;
  std::vector<const Node*> nodes_;
  NamedTensors tapped_;  // of the candidate: selections, scores, outputs
  Pinned candidate_;
  Pinned reference_;
  NamedTensors native_;  // values of candidate_, by libtorch's kernels
  std::int64_t flipped_ = 0;
  double gap_ = 0;
  double noise_ = 0;
  double pinned_error_ = 0;
  std::string node_;
};

}  // namespace

std::optional<Finding> ExamineTies(const Investigation& investigation) {
  return TieSearch(investigation).Run();
}

}  // namespace parity
