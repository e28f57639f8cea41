#include "diagnose/rounding_casts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "graph/model.h"

namespace parity {
namespace {

constexpr std::int64_t kFloat32 = 1;
constexpr std::int64_t kFloat16 = 10;

Node Of(std::string op, std::string input, std::string output) {
  Node node;
  node.name = "node_" + output;
  node.op_type = std::move(op);
  node.inputs = {std::move(input)};
  node.outputs = {std::move(output)};
  return node;
}

Node CastTo(std::int64_t type, std::string input, std::string output) {
  Node node = Of("Cast", std::move(input), std::move(output));
  node.attributes = {{.name = "to", .value = type}};
  return node;
}

TEST(RoundingCastsTest, ACastThatIsCastBackOnlyRounds) {
  Graph graph;
  graph.nodes = {Of("Relu", "x", "a"), CastTo(kFloat16, "a", "narrow"),
                 CastTo(kFloat32, "narrow", "b"), Of("Relu", "b", "y")};
  const auto casts = RoundingCasts(graph);
  ASSERT_EQ(casts.size(), 1U);
  EXPECT_EQ(casts[0]->name, "node_narrow");
}

TEST(RoundingCastsTest, WhatIsComputedWithIsWorkingPrecision) {
  Graph graph;
  graph.nodes = {CastTo(kFloat16, "x", "narrow"), Of("Relu", "narrow", "a"),
                 CastTo(kFloat32, "a", "y"), CastTo(kFloat32, "narrow", "z")};
  EXPECT_TRUE(RoundingCasts(graph).empty());
}

TEST(RoundingCastsTest, OutputsMayHave16Bits) {
  Graph graph;
  graph.nodes = {CastTo(kFloat16, "x", "y"), CastTo(kFloat32, "y", "z")};
  graph.outputs.emplace_back().name = "y";
  EXPECT_TRUE(RoundingCasts(graph).empty());
}

TEST(RoundingCastsTest, CastsToOtherTypesAreNone) {
  Graph graph;
  graph.nodes = {CastTo(kFloat32, "x", "a"), CastTo(kFloat32, "a", "y")};
  EXPECT_TRUE(RoundingCasts(graph).empty());
}

}  // namespace
}  // namespace parity
