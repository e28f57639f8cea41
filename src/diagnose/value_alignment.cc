// Exporters take operators apart (layer normalisation, hardswish) and fold
// others together (batch normalisation into a convolution), so nodes and
// operators of PyTorch do not pair up, but values do: what leaves a decomposed
// operator is again a value of the reference. So
//   1. every value of the graph gets its standing (value_standing.h);
//   2. from each wrong output, a walk goes up through unexplained values only:
//      what it does not reach is innocent, however unexplained;
//   3. its frontier, nodes whose inputs all are explained, are the suspects;
//   4. they are ranked: by the number of wrong outputs they reach, then by the
//      evidence that the reference has just such an operator there whose value
//      the graph lacks, then by their order in the graph.
#include "diagnose/value_alignment.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/module_path.h"
#include "diagnose/operator_kinds.h"
#include "diagnose/reference_values.h"
#include "diagnose/value_standing.h"
#include "graph/model.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// How well the reference's values that the graph lacks fit a suspect.
enum class Evidence : std::uint8_t {
  kNone,
  kModule,          // one of the same module
  kOperator,        // an operator of its kind, soon after its inputs
  kModuleOperator,  // both
};

struct Suspect {
  const ValueState* value = nullptr;
  std::size_t outputs = 0;  // wrong ones it reaches
  Evidence evidence = Evidence::kNone;
  const TracedValue* missing = nullptr;  // of the reference, in its place
};

class Alignment {
 public:
  explicit Alignment(const AlignmentQuestion& question)
      : question_(question),
        reference_(question.inputs, question.reference),
        standings_(question.graph, reference_, question.candidate,
                   question.tolerance) {}

  [[nodiscard]] std::optional<Divergence> Find() {
    for (const std::string& output : question_.wrong_outputs) Walk(output);
    const std::vector<Suspect> suspects = RankedSuspects();
    if (suspects.empty()) return FindMisrouted();
    return Describe(suspects);
  }

 private:
  [[nodiscard]] const Node& NodeOf(const ValueState& state) const {
    return question_.graph.nodes[static_cast<std::size_t>(state.node)];
  }

  [[nodiscard]] std::string Label(const ValueState& state) const {
    if (state.node < 0) return "";
    const std::string& name = NodeOf(state).name;
    return name.empty() ? std::string(state.name) : name;
  }

  [[nodiscard]] std::string Module(const ValueState& state) const {
    return state.node < 0 ? "" : ModulePathOf(Label(state));
  }

  // The values a node is computed from that have standing `wanted`.
  [[nodiscard]] std::vector<const ValueState*> Sources(const ValueState& state,
                                                       Standing wanted) const {
    std::vector<const ValueState*> sources;
    if (state.node < 0) return sources;
    for (const std::string_view name : UsedValues(NodeOf(state))) {
      const ValueState* const source = standings_.Find(name);
      if (source != nullptr && source->standing == wanted)
        sources.push_back(source);
    }
    return sources;
  }

  // Marks what the output is computed from through unexplained values.
  void Walk(std::string_view output) {
    const ValueState* const start = standings_.Find(output);
    if (start == nullptr || start->standing != Standing::kUnexplained) return;
    std::set<const ValueState*> seen = {start};
    std::vector<const ValueState*> open = {start};
    while (!open.empty()) {
      const ValueState* const state = open.back();
      open.pop_back();
      const auto sources = Sources(*state, Standing::kUnexplained);
      // A node is one suspect, however many of its outputs are wrong.
      region_.try_emplace(state->node, state);
      if (sources.empty() && reached_.emplace(state->node, output).second)
        ++frontier_[state->node];
      for (const ValueState* const source : sources) {
        if (seen.insert(source).second) open.push_back(source);
      }
    }
  }

  [[nodiscard]] std::vector<Suspect> RankedSuspects() const {
    std::vector<Suspect> suspects;
    for (const auto& [node, outputs] : frontier_) {
      Suspect suspect = {.value = region_.at(node), .outputs = outputs};
      Judge(suspect);
      suspects.push_back(suspect);
    }
    std::ranges::stable_sort(suspects, std::greater(), [](const Suspect& s) {
      return std::pair(s.outputs, s.evidence);
    });
    return suspects;
  }

  // Values of the reference that the graph lacks, with as many elements as
  // `state`, soon after what it is computed from.
  [[nodiscard]] std::vector<const TracedValue*> MissingAfter(
      const ValueState& state) const {
    constexpr std::size_t kWindow = 4;
    std::vector<const TracedValue*> missing;
    const auto begin = static_cast<std::size_t>(state.place + 1);
    for (std::size_t place = std::max(begin, reference_.input_count());
         place < reference_.size() && missing.size() < kWindow; ++place) {
      const TracedValue& value = reference_[place];
      if (!standings_.IsMatched(place) &&
          (state.sketch == nullptr ||
           value.sketch.element_count == state.sketch->element_count))
        missing.push_back(&value);
    }
    return missing;
  }

  // The last values of the module in the trace come from its last operator.
  [[nodiscard]] std::vector<const TracedValue*> MissingOfModule(
      std::string_view module) const {
    std::vector<const TracedValue*> missing;
    if (module.empty()) return missing;
    for (std::size_t place = reference_.input_count();
         place < reference_.size(); ++place) {
      if (!standings_.IsMatched(place) && reference_[place].module == module)
        missing.push_back(&reference_[place]);
    }
    return missing;
  }

  void Judge(Suspect& suspect) const {
    const std::string& op = NodeOf(*suspect.value).op_type;
    const auto first_of_kind =
        [&](const std::vector<const TracedValue*>& values) {
          const auto found =
              std::ranges::find_if(values, [&](const TracedValue* value) {
                return IsCounterpart(op, value->op);
              });
          return found == values.end() ? nullptr : *found;
        };
    const auto settle = [&](Evidence evidence, const TracedValue* missing) {
      if (missing == nullptr || suspect.evidence >= evidence) return;
      suspect.evidence = evidence;
      suspect.missing = missing;
    };
    const auto of_module = MissingOfModule(Module(*suspect.value));
    const auto after = MissingAfter(*suspect.value);
    settle(Evidence::kModuleOperator, first_of_kind(of_module));
    settle(Evidence::kOperator, first_of_kind(after));
    if (!of_module.empty()) settle(Evidence::kModule, of_module.back());
    if (suspect.missing == nullptr && !after.empty())
      suspect.missing = after.front();
  }

  [[nodiscard]] Divergence Describe(const std::vector<Suspect>& suspects) {
    const Suspect& first = suspects.front();
    Divergence divergence = Describe(*first.value);
    if (divergence.module.empty() && first.missing != nullptr)
      divergence.module = first.missing->module;
    for (const Suspect& suspect : suspects | std::views::drop(1))
      divergence.other_suspects.push_back(Label(*suspect.value));
    // What reordered the values that a suspect uses may be the fault.
    for (const Suspect& suspect : suspects) {
      for (const ValueState* const source :
           Sources(*suspect.value, Standing::kPermuted))
        AddSuspect(Label(*FirstPermuted(*source)), divergence);
    }
    divergence.region = RegionOf(first);
    return divergence;
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
    std::vector<std::string> labels = {Label(*suspect.value)};
    if (suspect.evidence >= Evidence::kOperator || suspect.missing == nullptr)
      return labels;
    const std::vector<const ValueState*> following = Following(*suspect.value);
    const ValueState* end = nullptr;
    double nearest = 0.5;  // beyond, two values have nothing in common
    for (const ValueState* const state : following) {
      if (state->sketch == nullptr) continue;
      const double distance =
          RelativeDistance(suspect.missing->sketch, *state->sketch);
      if (distance < nearest) {
        nearest = distance;
        end = state;
      }
    }
    const std::string module = Module(*suspect.value);
    if (end == nullptr && !module.empty()) {
      for (const ValueState* const state : following) {
        if (Module(*state) == module) end = state;
      }
    }
    if (end == nullptr) return labels;
    for (const ValueState* const state : following) {
      if (state->node <= end->node) labels.push_back(Label(*state));
    }
    return labels;
  }

  // The unexplained nodes that the suspect's value flows into, in order.
  [[nodiscard]] std::vector<const ValueState*> Following(
      const ValueState& suspect) const {
    std::vector<const ValueState*> following;
    std::set<std::ptrdiff_t> reached = {suspect.node};
    for (const auto& [node, state] : region_) {
      const auto sources = Sources(*state, Standing::kUnexplained);
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
    for (auto sources = Sources(*first, Standing::kPermuted); !sources.empty();
         sources = Sources(*first, Standing::kPermuted))
      first = sources.front();
    return first;
  }

  // Outputs that are values of the reference, but the wrong ones (or in the
  // wrong order), or constants.
  [[nodiscard]] std::optional<Divergence> FindMisrouted() const {
    std::vector<const ValueState*> wrong;
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
  // Unexplained nodes that lead to wrong outputs, by their order, each with its
  // first wrong value that was met.
  std::map<std::ptrdiff_t, const ValueState*> region_;
  // Those without unexplained inputs: how many outputs they reach, and which.
  std::map<std::ptrdiff_t, std::size_t> frontier_;
  std::set<std::pair<std::ptrdiff_t, std::string_view>> reached_;
};

}  // namespace

std::optional<Divergence> FindDivergence(const AlignmentQuestion& question) {
  return Alignment(question).Find();
}

}  // namespace parity
