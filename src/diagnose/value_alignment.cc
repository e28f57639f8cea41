// Exporters take operators apart (layer normalisation, hardswish) and fold
// others together (batch normalisation into a convolution), so nodes and
// operators of PyTorch do not pair up, but values do: what leaves a decomposed
// operator is again a value of the reference. So
//   1. every value of the graph gets its standing (value_standing.h);
//   2. from each wrong output, a walk goes up through unexplained values only:
//      what it does not reach is innocent, however unexplained;
//   3. its frontier, nodes whose inputs all are explained, are suspects; steps
//   in
//      integers do not hide what uses them from that;
//   4. they are ranked: by the number of wrong outputs they can reach, then
//      those that compute with floating numbers, then by the evidence that the
//      reference has just such an operator there whose value the graph lacks
//      (missing_values.h), then by their order in the graph.
#include "diagnose/value_alignment.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/missing_values.h"
#include "diagnose/module_path.h"
#include "diagnose/reference_values.h"
#include "diagnose/value_standing.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

struct Suspect {
  const ValueState* value = nullptr;
  std::size_t outputs = 0;  // wrong ones it can reach
  bool is_floating = false;
  PlaceJudgement judgement;
};

using Values = std::vector<const ValueState*>;

class Alignment {
 public:
  explicit Alignment(const AlignmentQuestion& question)
      : question_(question),
        reference_(question.inputs, question.reference),
        standings_(question.graph, reference_, question.candidate,
                   question.tolerance),
        missing_(question.graph, reference_, standings_) {
    for (const Node& node : question.graph.nodes) {
      Values& sources = sources_.emplace_back();
      for (const std::string_view name : UsedValues(node)) {
        if (const ValueState* const source = standings_.Find(name))
          sources.push_back(source);
      }
    }
    FindFloatingValues();
  }

  [[nodiscard]] std::optional<Divergence> Find() {
    for (const std::string& output : question_.wrong_outputs) Walk(output);
    AddBelowIntegers();
    const std::vector<Suspect> suspects = RankedSuspects();
    if (suspects.empty()) return FindMisrouted();
    return Describe(suspects);
  }

 private:
  [[nodiscard]] std::string Label(const ValueState& state) const {
    return LabelOf(question_.graph, state);
  }

  [[nodiscard]] std::string Module(const ValueState& state) const {
    return ModulePathOf(Label(state));
  }

  // What the node of a value is computed from and has standing `wanted`.
  [[nodiscard]] Values Sources(const ValueState& state, Standing wanted) const {
    Values sources;
    if (state.node < 0) return sources;
    for (const ValueState* const source :
         sources_[static_cast<std::size_t>(state.node)]) {
      if (source->standing == wanted) sources.push_back(source);
    }
    return sources;
  }

  // Marks what the output is computed from through unexplained values.
  void Walk(std::string_view output) {
    const ValueState* const start = standings_.Find(output);
    if (start == nullptr || start->standing != Standing::kUnexplained) return;
    Values open = {start};
    while (!open.empty()) {
      const ValueState* const state = open.back();
      open.pop_back();
      // A node is one suspect, however many of its outputs are wrong.
      if (!region_.try_emplace(state->node, state).second) continue;
      const Values sources = Sources(*state, Standing::kUnexplained);
      if (sources.empty()) suspects_.insert(state->node);
      open.insert(open.end(), sources.begin(), sources.end());
    }
  }

  // Steps in integers, like those that make indices of patches, are the
  // exporter's own and unexplained more often than not. What computes with
  // floating numbers first below such steps is as good as a frontier.
  void AddBelowIntegers() {
    std::set<std::ptrdiff_t> tainted;
    for (const auto& [node, state] : region_) {
      const Values sources = Sources(*state, Standing::kUnexplained);
      const bool follows =
          std::ranges::any_of(sources, [&](const ValueState* source) {
            return tainted.contains(source->node);
          });
      if (!follows && IsFloating(*state)) suspects_.insert(node);
      if (follows || IsFloating(*state)) tainted.insert(node);
    }
  }

  // Values of floating numbers, but not of integers that were cast to them.
  void FindFloatingValues() {
    std::unordered_set<std::string_view> floating;
    const auto add = [&](const TracedValue& value) {
      if (parity::IsFloating(value.dtype)) floating.insert(value.name);
    };
    std::ranges::for_each(question_.candidate, add);
    for (const TracedValue& value : question_.inputs) {
      if (parity::IsFloating(value.dtype)) floating_.insert(value.name);
    }
    for (std::size_t node = 0; node < sources_.size(); ++node) {
      if (!ComputesFloating(sources_[node])) continue;
      for (const std::string& output : question_.graph.nodes[node].outputs) {
        if (floating.contains(output)) floating_.insert(output);
      }
    }
  }

  [[nodiscard]] bool ComputesFloating(const Values& sources) const {
    return std::ranges::any_of(sources, [&](const ValueState* source) {
      return source->standing != Standing::kNeutral &&
             floating_.contains(source->name);
    });
  }

  // Computes, or decides, with floating numbers.
  [[nodiscard]] bool IsFloating(const ValueState& state) const {
    return ComputesFloating(sources_[static_cast<std::size_t>(state.node)]);
  }

  // Wrong outputs that depend on the node, through whatever values: a fault
  // must reach them all.
  [[nodiscard]] std::size_t ReachedOutputs(std::ptrdiff_t from) const {
    std::unordered_set<std::ptrdiff_t> reached = {from};
    for (std::size_t node = static_cast<std::size_t>(from) + 1;
         node < sources_.size(); ++node) {
      if (std::ranges::any_of(sources_[node], [&](const ValueState* source) {
            return reached.contains(source->node);
          }))
        reached.insert(static_cast<std::ptrdiff_t>(node));
    }
    return static_cast<std::size_t>(std::ranges::count_if(
        question_.wrong_outputs, [&](const std::string& output) {
          const ValueState* const state = standings_.Find(output);
          return state != nullptr && reached.contains(state->node);
        }));
  }

  [[nodiscard]] std::vector<Suspect> RankedSuspects() const {
    std::vector<Suspect> suspects;
    for (const std::ptrdiff_t node : suspects_) {
      const ValueState* const value = region_.at(node);
      suspects.push_back({.value = value,
                          .outputs = ReachedOutputs(node),
                          .is_floating = IsFloating(*value),
                          .judgement = missing_.Judge(*value)});
    }
    std::ranges::stable_sort(suspects, std::greater(), [](const Suspect& s) {
      return std::tuple(s.outputs, s.is_floating, s.judgement.evidence);
    });
    return suspects;
  }

  [[nodiscard]] Divergence Describe(const std::vector<Suspect>& suspects) {
    const Suspect& first = suspects.front();
    // Its input may be the wrong one already, though a value of the reference.
    for (const ValueState* const source :
         Sources(*first.value, Standing::kExplained)) {
      if (!missing_.IsMisplaced(*source)) continue;
      Divergence divergence = Describe(*source);
      divergence.region = {divergence.node};
      AddSuspects(suspects, divergence);
      return divergence;
    }
    Divergence divergence = Describe(*first.value);
    if (divergence.module.empty() && first.judgement.missing != nullptr)
      divergence.module = first.judgement.missing->module;
    AddSuspects(suspects, divergence);
    // What reordered the values that a suspect uses may be the fault.
    for (const Suspect& suspect : suspects) {
      for (const ValueState* const source :
           Sources(*suspect.value, Standing::kPermuted)) {
        AddSuspect(Label(*source), divergence);
        AddSuspect(Label(*FirstPermuted(*source)), divergence);
      }
    }
    divergence.region = RegionOf(first);
    return divergence;
  }

  void AddSuspects(const std::vector<Suspect>& suspects,
                   Divergence& divergence) const {
    for (const Suspect& suspect : suspects)
      AddSuspect(Label(*suspect.value), divergence);
  }

  static void AddSuspect(std::string label, Divergence& divergence) {
    if (label != divergence.node &&
        !std::ranges::contains(divergence.other_suspects, label))
      divergence.other_suspects.push_back(std::move(label));
  }

  [[nodiscard]] Divergence Describe(const ValueState& state) const {
    Divergence divergence = {.node = Label(state),
                             .value = std::string(state.name),
                             .module = Module(state),
                             .other_suspects = {},
                             .region = {},
                             .last_agreeing_value = {}};
    divergence.distance = state.sketch == nullptr
                              ? std::numeric_limits<double>::infinity()
                              : reference_.NearestDistance(*state.sketch);
    const ValueState* last = nullptr;
    for (const Standing standing :
         {Standing::kExplained, Standing::kPermuted}) {
      for (const ValueState* const source : Sources(state, standing)) {
        if (last == nullptr || source->place > last->place) last = source;
      }
    }
    if (last != nullptr) divergence.last_agreeing_value = last->name;
    return divergence;
  }

  // Unexplained nodes from the suspect up to the one that should have computed
  // what is missing.
  [[nodiscard]] std::vector<std::string> RegionOf(
      const Suspect& suspect) const {
    std::vector<std::string> labels = Preceding(*suspect.value);
    labels.push_back(Label(*suspect.value));
    const Values following = Following(*suspect.value);
    const ValueState* end = NearestTo(suspect, following);
    const std::string module = Module(*suspect.value);
    if (end == nullptr && !module.empty()) {
      for (const ValueState* const state : following) {
        if (Module(*state) != module) break;
        end = state;
      }
    }
    if (end == nullptr) return labels;
    for (const ValueState* const state : following) {
      if (state->node <= end->node) labels.push_back(Label(*state));
    }
    return labels;
  }

  // That which is more like what is missing than the suspect's value is.
  [[nodiscard]] static const ValueState* NearestTo(const Suspect& suspect,
                                                   const Values& following) {
    const TracedValue* const missing = suspect.judgement.missing;
    if (missing == nullptr) return nullptr;
    const ValueState* end = nullptr;
    double nearest = 0.5;  // beyond, two values have nothing in common
    if (suspect.value->sketch != nullptr) {
      nearest = std::min(
          nearest, RelativeDistance(missing->sketch, *suspect.value->sketch));
    }
    for (const ValueState* const state : following) {
      if (state->sketch == nullptr) continue;
      const double distance = RelativeDistance(missing->sketch, *state->sketch);
      if (distance < nearest) {
        nearest = distance;
        end = state;
      }
    }
    return end;
  }

  // The unexplained steps that end in the suspect's inputs, in order.
  [[nodiscard]] std::vector<std::string> Preceding(
      const ValueState& suspect) const {
    std::set<std::ptrdiff_t> nodes;
    Values open = {&suspect};
    while (!open.empty()) {
      const Values sources = Sources(*open.back(), Standing::kUnexplained);
      open.pop_back();
      for (const ValueState* const source : sources) {
        if (nodes.insert(source->node).second) open.push_back(source);
      }
    }
    std::vector<std::string> labels;
    labels.reserve(nodes.size());
    for (const std::ptrdiff_t node : nodes)
      labels.push_back(Label(*region_.at(node)));
    return labels;
  }

  // The unexplained nodes that the suspect's value flows into, in order.
  [[nodiscard]] Values Following(const ValueState& suspect) const {
    Values following;
    std::set<std::ptrdiff_t> reached = {suspect.node};
    for (const auto& [node, state] : region_) {
      const Values sources = Sources(*state, Standing::kUnexplained);
      if (node != suspect.node &&
          std::ranges::any_of(sources, [&](const ValueState* source) {
            return reached.contains(source->node);
          })) {
        reached.insert(node);
        following.push_back(state);
      }
    }
    return following;
  }

  [[nodiscard]] const ValueState* FirstPermuted(const ValueState& state) const {
    const ValueState* first = &state;
    for (Values sources = Sources(*first, Standing::kPermuted);
         !sources.empty(); sources = Sources(*first, Standing::kPermuted))
      first = sources.front();
    return first;
  }

  // Outputs that are values of the reference, but the wrong ones (or in the
  // wrong order), or constants.
  [[nodiscard]] std::optional<Divergence> FindMisrouted() const {
    Values wrong;
    for (const std::string& output : question_.wrong_outputs) {
      const ValueState* const state = standings_.Find(output);
      if (state == nullptr) continue;
      wrong.push_back(state->standing == Standing::kPermuted
                          ? FirstPermuted(*state)
                          : state);
    }
    if (wrong.empty()) return std::nullopt;
    std::ranges::stable_sort(wrong, {}, &ValueState::node);
    Divergence divergence = Describe(*wrong.front());
    divergence.region = {divergence.node};
    for (const ValueState* const state : wrong)
      AddSuspect(Label(*state), divergence);
    return divergence;
  }

  const AlignmentQuestion& question_;
  ReferenceValues reference_;
  ValueStandings standings_;
  MissingValues missing_;
  std::vector<Values> sources_;  // of nodes
  std::unordered_set<std::string_view> floating_;
  // Unexplained nodes that lead to wrong outputs, by their order, each with its
  // first wrong value that was met.
  std::map<std::ptrdiff_t, const ValueState*> region_;
  std::set<std::ptrdiff_t> suspects_;  // of them
};

}  // namespace

std::optional<Divergence> FindDivergence(const AlignmentQuestion& question) {
  return Alignment(question).Find();
}

}  // namespace parity
