
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "diagnose/testing/two_sides.h"
#include "graph/model.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

double Sum(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

TEST(ValueStandingTest, TransposedCopiesAreExplained) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Reference("aten::linear", "fc", a, {4, 6});
  // The export computes everything transposed.
  sides.Node("Transpose", {"x"}, "xt", Transposed(sides.x, 6), {6, 4});
  sides.Node("MatMul", {"w", "xt"}, "at", Transposed(a, 6), {6, 4});
  sides.Node("Relu", {"at"}, "rt", Transposed(Relu(a), 6), {6, 4});
  sides.Reference("aten::relu", "act", Relu(a), {4, 6});
  const Numbers wrong = Mix(Relu(a), 3);
  sides.Node("MatMul", {"w2", "rt"}, "bt", Transposed(wrong, 6), {6, 4});
  sides.Reference("aten::linear", "fc2", Mix(Relu(a), 2), {4, 6});
  sides.Node("Transpose", {"bt"}, "y", wrong, {4, 6});
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/bt");
  EXPECT_EQ(found->last_agreeing_value, "rt");
}

TEST(ValueStandingTest, PartsInTheWrongOrderAreNotExplained) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w"}, "a", "aten::convolution", a);
  Numbers right = sides.x;
  right.insert(right.end(), a.begin(), a.end());
  Numbers swapped = a;
  swapped.insert(swapped.end(), sides.x.begin(), sides.x.end());
  sides.Node("Concat", {"a", "x"}, "both", swapped);
  sides.Reference("aten::cat", "", right);
  sides.Node("Conv", {"both", "w2"}, "y", Mix(swapped, 2));
  sides.Reference("aten::convolution", "last", Mix(right, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/both");
}

TEST(ValueStandingTest, WhatReordersASuspectsInputsIsNamed) {
  TwoSides sides;
  sides.Reference("aten::permute", "", Transposed(sides.x, 6), {6, 4});
  sides.Node("Transpose", {"x"}, "xt", Transposed(sides.x, 3), {3, 8});
  const Numbers wrong = Mix(Transposed(sides.x, 3), 2);
  sides.Node("MatMul", {"xt", "w"}, "y", wrong);
  sides.Reference("aten::mm", "fc", Mix(Transposed(sides.x, 6), 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
  EXPECT_THAT(found->other_suspects, ElementsAre("/xt"));
}

TEST(ValueStandingTest, OtherMaskWithAsManyElementsIsNotExplained) {
  TwoSides sides;
  Numbers right(24);
  right[2] = right[7] = right[9] = 1;
  Numbers wrong(24);
  wrong[2] = wrong[7] = wrong[8] = 1;
  sides.Node("Greater", {"x", "threshold"}, "mask", wrong, {4, 6});
  sides.Reference("aten::gt", "", right, {24});
  sides.Node("Mul", {"x", "mask"}, "y", Times(sides.x, wrong));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/mask");
}

TEST(ValueStandingTest, NotFiniteValuesAreNotExplained) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  Numbers broken = a;
  broken[5] = std::numeric_limits<double>::quiet_NaN();
  sides.Node("Sqrt", {"x"}, "root", broken);
  sides.Reference("aten::sqrt", "root", a);
  sides.Node("Relu", {"root"}, "y", broken);
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/root");
  EXPECT_EQ(found->distance, std::numeric_limits<double>::infinity());
}

TEST(ValueStandingTest, ZerosExplainOnlyZeros) {
  TwoSides sides;
  const Numbers zeros(24);
  sides.Reference("aten::zeros", "", zeros);
  sides.Node("Mul", {"x", "w"}, "scaled", Scaled(sides.x, 1e-9));
  sides.Reference("aten::mul", "", sides.x);
  sides.Node("Mul", {"scaled", "w"}, "y", Scaled(sides.x, 1e-12));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/scaled");
}

TEST(ValueStandingTest, ZerosAreExplainedOnlyByTheirOwnOperator) {
  TwoSides sides;
  const Numbers zeros(24);
  // Some buffer of zeros, and a dead activation that should not be one.
  sides.Reference("aten::zeros", "", zeros);
  sides.Node("Relu", {"x"}, "dead", zeros);
  sides.Reference("aten::relu", "", Relu(sides.x));
  sides.Node("Add", {"dead", "x"}, "y", sides.x);
  sides.Reference("aten::add", "", Plus(Relu(sides.x), sides.x));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  // The sum equals the input by chance, but is the output that differs.
  EXPECT_EQ(found->node, "/y");
  EXPECT_EQ(found->distance, 0);
  const auto inside = sides.Find({"dead"});
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(inside->node, "/dead");
}

TEST(ValueStandingTest, WeakValuesDoNotStopTheWalk) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 2);
  sides.Node("Conv", {"x", "w"}, "a", a);
  sides.Reference("aten::convolution", "a", Mix(sides.x, 1));
  // Both sides have a mask of ones here, but this one comes from a wrong value.
  const Numbers ones(24, 1.0);
  sides.Node("Greater", {"a", "low"}, "mask", ones);
  sides.Reference("aten::gt", "", ones);
  sides.Node("Mul", {"mask", "b"}, "y", Scaled(ones, 0.25));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/a");
}

TEST(ValueStandingTest, ValuesWithoutATraceAreWhatTheyAreComputedFrom) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w1"}, "a", "aten::convolution", a);
  sides.UntracedNode("/sequence", "SequenceConstruct", {"a", "x"}, {"s"});
  sides.NamedNode("/at", "SequenceAt", {"s", "one"}, "picked", a);
  sides.Node("Conv", {"picked", "w2"}, "y", Mix(a, 3));
  sides.Reference("aten::convolution", "last", Mix(a, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
}

TEST(ValueStandingTest, SubgraphsUseValuesAroundThem) {
  TwoSides sides;
  const Numbers wrong = Mix(sides.x, 3);
  sides.Node("Conv", {"x", "w"}, "captured", wrong);
  sides.Reference("aten::convolution", "conv", Mix(sides.x, 2));
  auto branch = std::make_shared<Graph>();
  branch->nodes.push_back({.name = "inner",
                           .op_type = "Relu",
                           .domain = "",
                           .inputs = {"captured"},
                           .outputs = {"result"},
                           .attributes = {}});
  branch->outputs.emplace_back().name = "result";
  sides.Node("If", {"condition"}, "y", Relu(wrong));
  sides.graph.nodes.back().attributes.push_back(
      {.name = "then_branch", .value = branch});
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/captured");
}

TEST(ValueStandingTest, ValuesFilledUpWithZerosAreExplained) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w1"}, "a", "aten::convolution", a);
  // Two more channels of zeros, which later weights ignore.
  const Numbers wide = Joined(a, Numbers(8));
  sides.Node("Pad", {"a", "pads"}, "wide", wide);
  const Numbers wrong = Mix(wide, 3);
  sides.Node("Conv", {"wide", "w2"}, "y", wrong);
  sides.Reference("aten::convolution", "last", Mix(wide, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
  EXPECT_EQ(found->last_agreeing_value, "wide");
}

TEST(ValueStandingTest, SmallErrorsAreNoOtherOrder) {
  TwoSides sides;
  const Numbers a = Random(30'000, 5);
  const Numbers noise = Random(30'000, 6);
  Numbers rough = Plus(a, Scaled(noise, 3e-5));
  // As rounding may have it, the error does not show in any sum.
  rough[0] += Sum(a) - Sum(rough);
  sides.AddInput("z", Joined(a, {1}));
  sides.Node("Conv", {"z", "w"}, "rough", rough);
  sides.Reference("aten::convolution", "conv", a);
  sides.Node("Pad", {"rough", "pads"}, "wide", Joined(rough, Numbers(500)));
  sides.Node("Exp", {"wide"}, "y",
             Map(rough, [](double v) { return std::exp(v); }));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/rough");
}

TEST(ValueStandingTest, WrongOrderIsFollowedToWhereItBegan) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w"}, "a", "aten::convolution", a);
  const Numbers right = Joined(sides.x, a);
  const Numbers swapped = Joined(a, sides.x);
  sides.Node("Concat", {"a", "x"}, "both", swapped);
  sides.Reference("aten::cat", "", right);
  // Both would be explained by their elements alone.
  sides.Node("Transpose", {"both"}, "turned", Transposed(swapped, 6), {6, 8});
  sides.Node("Pad", {"turned", "pads"}, "wide",
             Joined(Transposed(swapped, 6), Numbers(8)));
  sides.Node("Conv", {"wide", "w2"}, "y", Mix(swapped, 2));
  sides.Reference("aten::convolution", "last", Mix(right, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/both");
  EXPECT_THAT(found->other_suspects, IsEmpty());
}

}  // namespace
}  // namespace parity
