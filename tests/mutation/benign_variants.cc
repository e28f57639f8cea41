#include "benign_variants.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/splitmix.h"
#include "diagnose/value_standing.h"
#include "graph/model.h"
#include "graph_edits.h"
#include "graph_facts.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// Draws one after another.
class Dice {
 public:
  Dice(BenignKind kind, std::uint64_t seed) : stream_(Name(kind), seed) {}

  // 0…count-1.
  std::size_t Pick(std::size_t count) {
    return static_cast<std::size_t>(stream_.Bits(next_++) % count);
  }

  template <class T>
  void Shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[Pick(i)]);
  }

 private:
  SplitMixStream stream_;
  std::uint64_t next_ = 0;
};

// Each function gives whether anything changed.

bool Rename(Graph& graph) {
  if (HasSubgraphs(graph)) return false;  // they use values by name
  std::unordered_set<std::string> kept;
  for (const ValueInfo& info : graph.inputs) kept.insert(info.name);
  for (const ValueInfo& info : graph.outputs) kept.insert(info.name);
  std::unordered_map<std::string, std::string> names;
  RenameValues(graph, [&](const std::string& name) {
    if (kept.contains(name)) return name;
    const auto [found, is_new] = names.try_emplace(name);
    // A name that is kept cannot be met: those are not of this form.
    if (is_new) found->second = std::format("renamed.{}", names.size());
    return found->second;
  });
  std::size_t number = 0;
  for (Node& node : graph.nodes) node.name = std::format("node_{}", ++number);
  return !graph.nodes.empty();
}

bool MakeConstantNodes(Graph& graph, Dice& dice) {
  std::vector<Node> constants;
  std::vector<Initializer> kept;
  for (Initializer& initializer : graph.initializers) {
    const bool is_input =
        std::ranges::contains(graph.inputs, initializer.name, &ValueInfo::name);
    if (initializer.encoded.has_value() || is_input || dice.Pick(2) == 0) {
      kept.push_back(std::move(initializer));
      continue;
    }
    constants.push_back(
        {.name = std::format("/Constant_{}", constants.size()),
         .op_type = "Constant",
         .domain = "",
         .inputs = {},
         .outputs = {initializer.name},
         .attributes = {{.name = "value", .value = initializer.tensor}}});
  }
  graph.initializers = std::move(kept);
  const bool changed = !constants.empty();
  graph.nodes.insert(graph.nodes.begin(),
                     std::make_move_iterator(constants.begin()),
                     std::make_move_iterator(constants.end()));
  return changed;
}

bool MakeInitializers(Graph& graph) {
  const auto is_tensor = [&](const Node& node) {
    if (node.op_type != "Constant") return false;
    const AttributeValue* const value = node.FindAttribute("value");
    return value != nullptr && std::holds_alternative<Tensor>(*value) &&
           !std::ranges::contains(graph.outputs, node.outputs[0],
                                  &ValueInfo::name);
  };
  for (const Node& node : graph.nodes) {
    if (!is_tensor(node)) continue;
    graph.initializers.push_back(
        {.name = node.outputs[0],
         .tensor = std::get<Tensor>(*node.FindAttribute("value"))});
  }
  return std::erase_if(graph.nodes, is_tensor) > 0;
}

bool ShuffleInitializers(Graph& graph, Dice& dice) {
  dice.Shuffle(graph.initializers);
  return graph.initializers.size() > 1;
}

bool ShuffleNodes(Graph& graph, Dice& dice) {
  std::unordered_map<std::string_view, std::size_t> producers;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& output : graph.nodes[i].outputs)
      producers.emplace(output, i);
  }
  std::vector<std::vector<std::size_t>> users(graph.nodes.size());
  std::vector<std::size_t> waits_for(graph.nodes.size(), 0);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string_view used : UsedValues(graph.nodes[i])) {
      const auto found = producers.find(used);
      if (found == producers.end()) continue;
      users[found->second].push_back(i);
      ++waits_for[i];
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < waits_for.size(); ++i) {
    if (waits_for[i] == 0) ready.push_back(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    std::swap(ready[dice.Pick(ready.size())], ready.back());
    order.push_back(ready.back());
    ready.pop_back();
    for (const std::size_t user : users[order.back()]) {
      if (--waits_for[user] == 0) ready.push_back(user);
    }
  }
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (const std::size_t i : order) nodes.push_back(std::move(graph.nodes[i]));
  graph.nodes = std::move(nodes);
  return !std::ranges::is_sorted(order);
}

using Maker = std::function<std::vector<Node>(
    const std::string& from, const std::string& to, const Node& producer)>;

// Behind up to three values that `fits`.
bool Insert(
    Graph& graph, Dice& dice,
    const std::function<bool(const GraphFacts&, const std::string&)>& fits,
    const Maker& make) {
  std::vector<std::string> values;
  {
    const GraphFacts facts(graph);
    for (const std::size_t index : facts.data_nodes()) {
      const std::string& value = graph.nodes[index].outputs[0];
      if (fits(facts, value)) values.push_back(value);
    }
  }
  dice.Shuffle(values);
  constexpr std::size_t kMost = 3;
  if (values.size() > kMost) values.resize(kMost);
  for (const std::string& value : values) {
    const auto producer =
        std::ranges::find_if(graph.nodes, [&](const Node& node) {
          return std::ranges::contains(node.outputs, value);
        });
    // A copy: the nodes move.
    InsertBehind(graph, value,
                 [&make, node = *producer](const std::string& from,
                                           const std::string& to) {
                   return make(from, to, node);
                 });
  }
  return !values.empty();
}

bool InsertUnary(Graph& graph, Dice& dice, const std::string& op) {
  return Insert(
      graph, dice,
      [&](const GraphFacts& facts, const std::string& value) {
        return op == "Identity" || facts.IsFloat(value);
      },
      [&](const std::string& from, const std::string& to,
          const Node& producer) {
        return std::vector<Node>{
            MakeNode(graph, producer.name, op, "added", {from}, to)};
      });
}

bool InsertReshapes(Graph& graph, Dice& dice) {
  return Insert(
      graph, dice,
      [](const GraphFacts& facts, const std::string& value) {
        // A 0 in a shape would not be what it says.
        return facts.IsFloat(value) && !facts.IsCounted(value);
      },
      [&](const std::string& from, const std::string& to,
          const Node& producer) {
        const std::string shape = FreshName(graph, to + "_shape");
        const std::string flat = FreshName(graph, to + "_flat");
        const std::string all = FreshName(graph, to + "_all");
        const std::vector<std::int64_t> any = {-1};
        graph.initializers.push_back(
            {.name = all,
             .tensor =
                 Tensor::From<std::int64_t>(DType::kInt64, {1}, any).value()});
        return std::vector<Node>{
            MakeNode(graph, producer.name, "Shape", "added", {from}, shape),
            MakeNode(graph, producer.name, "Reshape", "flat", {from, all},
                     flat),
            MakeNode(graph, producer.name, "Reshape", "back", {flat, shape},
                     to)};
      });
}

bool InsertTransposes(Graph& graph, Dice& dice) {
  std::unordered_map<std::string, std::size_t> ranks;
  return Insert(
      graph, dice,
      [&](const GraphFacts& facts, const std::string& value) {
        ranks[value] = facts.RankOf(value);
        return facts.IsFloat(value) && ranks[value] >= 3;
      },
      [&](const std::string& from, const std::string& to,
          const Node& producer) {
        const auto rank = static_cast<std::int64_t>(ranks.at(to));
        std::vector<std::int64_t> there = {0};
        std::vector<std::int64_t> back = {0, rank - 1};
        for (std::int64_t axis = 2; axis < rank; ++axis) {
          there.push_back(axis);
          back.push_back(axis - 1);
        }
        there.push_back(1);
        const std::string last = FreshName(graph, to + "_channels_last");
        return std::vector<Node>{
            MakeNode(graph, producer.name, "Transpose", "there", {from}, last,
                     {{.name = "perm", .value = there}}),
            MakeNode(graph, producer.name, "Transpose", "back", {last}, to,
                     {{.name = "perm", .value = back}})};
      });
}

// x·1 or x + 0.
bool InsertNeutral(Graph& graph, Dice& dice, const std::string& op,
                   double neutral) {
  std::unordered_map<std::string, DType> types;
  return Insert(
      graph, dice,
      [&](const GraphFacts& facts, const std::string& value) {
        if (!facts.IsFloat(value)) return false;
        types[value] = facts.TypeOf(value).value();
        return true;
      },
      [&](const std::string& from, const std::string& to,
          const Node& producer) {
        const std::string constant = FreshName(graph, to + "_neutral");
        graph.initializers.push_back(
            {.name = constant,
             .tensor = FloatTensor(types.at(to), {}, {neutral})});
        return std::vector<Node>{MakeNode(graph, producer.name, op, "neutral",
                                          {from, constant}, to)};
      });
}

bool Vary(Graph& graph, BenignKind kind, Dice& dice) {
  switch (kind) {
    case BenignKind::kRenamed:
      return Rename(graph);
    case BenignKind::kConstantNodes:
      return MakeConstantNodes(graph, dice);
    case BenignKind::kConstantInitializers:
      return MakeInitializers(graph);
    case BenignKind::kShuffledInitializers:
      return ShuffleInitializers(graph, dice);
    case BenignKind::kShuffledNodes:
      return ShuffleNodes(graph, dice);
    case BenignKind::kIdentity:
      return InsertUnary(graph, dice, "Identity");
    case BenignKind::kDropout:
      return InsertUnary(graph, dice, "Dropout");
    case BenignKind::kReshapePair:
      return InsertReshapes(graph, dice);
    case BenignKind::kTransposePair:
      return InsertTransposes(graph, dice);
    case BenignKind::kTimesOne:
      return InsertNeutral(graph, dice, "Mul", 1);
    case BenignKind::kPlusZero:
      return InsertNeutral(graph, dice, "Add", 0);
  }
  return false;
}

}  // namespace

std::string_view Name(BenignKind kind) {
  constexpr std::string_view kNames[] = {"renamed",
                                         "constant nodes",
                                         "constant initializers",
                                         "shuffled initializers",
                                         "shuffled nodes",
                                         "identity",
                                         "dropout",
                                         "reshape pair",
                                         "transpose pair",
                                         "times one",
                                         "plus zero"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<Model> BenignVariant(const Model& model, BenignKind kind,
                            std::uint64_t seed) {
  Model variant = model;
  Dice dice(kind, seed);
  if (Vary(variant.graph, kind, dice)) return variant;
  return Fail(ErrorCode::kNotFound,
              std::format("the graph has nothing for a variant of kind {}",
                          Name(kind)));
}

}  // namespace parity
