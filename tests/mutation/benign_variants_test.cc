#include "benign_variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_checks.h"
#include "graph/model.h"
#include "graph_lines.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

std::vector<std::string> NamesOf(const std::vector<ValueInfo>& infos) {
  std::vector<std::string> names;
  names.reserve(infos.size());
  for (const ValueInfo& info : infos) names.push_back(info.name);
  return names;
}

Model Variant(const Model& model, BenignKind kind, std::uint64_t seed) {
  Result<Model> variant = BenignVariant(model, kind, seed);
  EXPECT_TRUE(variant.has_value()) << variant.error().message;
  return variant.has_value() ? *std::move(variant) : Model();
}

// How many more nodes of each operator there are.
std::map<std::string, std::int64_t> Added(const Model& before,
                                          const Model& after) {
  std::map<std::string, std::int64_t> added = OpHistogram(after.graph);
  for (const auto& [op, count] : OpHistogram(before.graph)) added[op] -= count;
  std::erase_if(added, [](const auto& entry) { return entry.second == 0; });
  return added;
}

TEST(BenignVariantTest, EveryKindIsSoundAndTheSameForASeed) {
  // Half of the constants as nodes, so that both directions have some.
  const Model model =
      Variant(MattingModel(true), BenignKind::kConstantNodes, 1);
  for (const BenignKind kind : kBenignKinds) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(::testing::Message() << Name(kind) << ' ' << seed);
      const Model variant = Variant(model, kind, seed);
      EXPECT_EQ(StructureProblems(variant), std::vector<std::string>{});
      EXPECT_EQ(NamesOf(variant.graph.inputs), NamesOf(model.graph.inputs));
      EXPECT_EQ(NamesOf(variant.graph.outputs), NamesOf(model.graph.outputs));
      EXPECT_EQ(GraphLines(Variant(model, kind, seed).graph),
                GraphLines(variant.graph));
    }
  }
}

TEST(BenignVariantTest, NodesAreAddedAsTheKindSays) {
  using Counts = std::map<std::string, std::int64_t>;
  const std::map<BenignKind, Counts> expected = {
      {BenignKind::kRenamed, {}},
      {BenignKind::kShuffledInitializers, {}},
      {BenignKind::kShuffledNodes, {}},
      {BenignKind::kIdentity, {{"Identity", 3}}},
      {BenignKind::kDropout, {{"Dropout", 3}}},
      {BenignKind::kReshapePair, {{"Reshape", 6}, {"Shape", 3}}},
      {BenignKind::kTransposePair, {{"Transpose", 6}}},
      {BenignKind::kTimesOne, {{"Mul", 3}}},
      {BenignKind::kPlusZero, {{"Add", 3}}}};
  for (const auto& [kind, counts] : expected) {
    const Model variant = Variant(MattingModel(true), kind, 7);
    EXPECT_EQ(Added(MattingModel(true), variant), counts) << Name(kind);
  }
}

TEST(BenignVariantTest, OnlyTheOrderChanges) {
  const Model& model = MattingModel(true);
  const std::vector<std::string> before = GraphLines(model.graph);
  const std::vector<std::string> shuffled =
      GraphLines(Variant(model, BenignKind::kShuffledNodes, 3).graph);
  EXPECT_NE(shuffled, before);
  EXPECT_THAT(shuffled, UnorderedElementsAreArray(before));
  const Model other = Variant(model, BenignKind::kShuffledInitializers, 3);
  EXPECT_EQ(GraphLines(other.graph), before);
  EXPECT_NE(other.graph.initializers[0].name, model.graph.initializers[0].name);
}

TEST(BenignVariantTest, ConstantsMoveAndComeBack) {
  const Model& model = MattingModel(true);
  EXPECT_EQ(
      BenignVariant(model, BenignKind::kConstantInitializers, 0).error().code,
      ErrorCode::kNotFound);
  const Model nodes = Variant(model, BenignKind::kConstantNodes, 0);
  EXPECT_GT(OpHistogram(nodes.graph).at("Constant"), 20);
  EXPECT_LT(nodes.graph.initializers.size(), model.graph.initializers.size());
  const Model back = Variant(nodes, BenignKind::kConstantInitializers, 0);
  EXPECT_EQ(GraphLines(back.graph), GraphLines(model.graph));
}

TEST(BenignVariantTest, RenamedGraphsKeepNoInnerName) {
  const Model& model = MattingModel(true);
  const Model renamed = Variant(model, BenignKind::kRenamed, 0);
  for (std::size_t i = 0; i < model.graph.nodes.size(); ++i) {
    EXPECT_NE(renamed.graph.nodes[i].name, model.graph.nodes[i].name);
    for (const std::string& output : renamed.graph.nodes[i].outputs)
      EXPECT_FALSE(output.starts_with('/')) << output;
  }
  EXPECT_THAT(LinesOnlyIn(GraphLines(renamed.graph), GraphLines(model.graph)),
              ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace parity
