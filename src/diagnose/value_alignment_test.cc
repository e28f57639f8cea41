#include "diagnose/value_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/testing/two_sides.h"
#include "parity/dtype.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FindDivergenceTest, WrongConvolutionInAChain) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 10);
  const Numbers b = Relu(a);
  const Numbers wrong = Mix(b, 12);
  sides.Both("Conv", {"x", "w1"}, "conv1", "aten::convolution", a);
  sides.Both("Relu", {"conv1"}, "relu1", "aten::relu", b);
  sides.NamedNode("/net/conv2/Conv", "Conv", {"relu1", "w2"}, "conv2", wrong);
  sides.Reference("aten::convolution", "net.conv2", Mix(b, 11));
  sides.Node("Relu", {"conv2"}, "y", Relu(wrong));
  sides.Reference("aten::relu", "net", Relu(Mix(b, 11)));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/net/conv2/Conv");
  EXPECT_EQ(found->value, "conv2");
  EXPECT_EQ(found->module, "net.conv2");
  EXPECT_EQ(found->last_agreeing_value, "relu1");
  EXPECT_THAT(found->other_suspects, IsEmpty());
  EXPECT_THAT(found->region, ElementsAre("/net/conv2/Conv"));
  EXPECT_GT(found->distance, 0.1);
  EXPECT_LT(found->distance, 10);
}

TEST(FindDivergenceTest, SmallDifferencesCountAgainstTheTolerance) {
  TwoSides sides;
  const Numbers right = Mix(sides.x, 10);
  Numbers rounded = Scaled(right, 1 + 1e-8);
  Numbers wrong = Mix(rounded, 11);
  wrong[3] += 1e-4;
  sides.Node("Conv", {"x", "w1"}, "conv1", rounded);
  sides.Reference("aten::convolution", "conv1", right);
  sides.Node("Conv", {"conv1", "w2"}, "y", wrong);
  sides.Reference("aten::convolution", "conv2", Mix(right, 11));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
  EXPECT_GT(found->distance, 1e-6);
  EXPECT_LT(found->distance, 1e-4);
}

TEST(FindDivergenceTest, WrongWeightsInTheFirstLayer) {
  TwoSides sides;
  const Numbers wrong = Mix(sides.x, 12);
  sides.Node("Conv", {"x", "w1"}, "conv1", wrong);
  sides.Reference("aten::convolution", "stem", Mix(sides.x, 11));
  sides.Node("Relu", {"conv1"}, "y", Relu(wrong));
  sides.Reference("aten::relu", "act", Relu(Mix(sides.x, 11)));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/conv1");
  EXPECT_EQ(found->module, "stem");  // the name does not tell
  EXPECT_EQ(found->last_agreeing_value, "x");
}

TEST(FindDivergenceTest, FoldedNormalizationIsExplained) {
  for (const bool wrong_fold : {false, true}) {
    SCOPED_TRACE(wrong_fold);
    TwoSides sides;
    const Numbers conv = Mix(sides.x, 10);
    const Numbers normal = Scaled(conv, 0.7);
    const Numbers folded = wrong_fold ? Scaled(conv, 0.71) : normal;
    sides.NamedNode("/stem/0/Conv", "Conv", {"x", "w", "b"}, "folded", folded);
    sides.Reference("aten::convolution", "stem.0", conv);
    sides.Reference("aten::batch_norm", "stem.1", normal);
    sides.Node("Relu", {"folded"}, "relu", Relu(folded));
    sides.Reference("aten::relu_", "stem.2", Relu(normal));
    const Numbers wrong = Mix(Relu(folded), 13);
    sides.Node("Conv", {"relu", "w2"}, "y", wrong);
    sides.Reference("aten::convolution", "last", Mix(Relu(normal), 12));
    const auto found = sides.Find({"y"});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->node, wrong_fold ? "/stem/0/Conv" : "/y");
    EXPECT_THAT(found->other_suspects, IsEmpty());
  }
}

// x·clip(x + 3, 0, 6)/6 as the nodes that exporters write.
void DecomposedHardSwish(TwoSides& sides, const std::string& from,
                         const Numbers& x, const std::string& output,
                         double three = 3) {
  const Numbers shifted = Map(x, [three](double v) { return v + three; });
  const Numbers clipped =
      Map(shifted, [](double v) { return std::fmin(std::fmax(v, 0), 6); });
  sides.Node("Add", {from, "three"}, output + ".add", shifted);
  sides.Node("Clip", {output + ".add"}, output + ".clip", clipped);
  sides.Node("Mul", {from, output + ".clip"}, output + ".mul",
             Times(x, clipped));
  sides.Node("Div", {output + ".mul", "six"}, output,
             Scaled(Times(x, clipped), 1.0 / 6));
}

Numbers HardSwish(const Numbers& x) {
  return Map(x, [](double v) {
    return v * std::fmin(std::fmax(v + 3, 0), 6) * (1.0 / 6);
  });
}

TEST(FindDivergenceTest, DecomposedOperatorAboveTheFaultIsInnocent) {
  TwoSides sides;
  sides.Constant("three");
  sides.Constant("six");
  const Numbers a = HardSwish(sides.x);
  DecomposedHardSwish(sides, "x", sides.x, "swish");
  sides.Reference("aten::hardswish", "act", a);
  sides.Node("Conv", {"swish", "w"}, "y", Mix(a, 3));
  sides.Reference("aten::convolution", "conv", Mix(a, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
  EXPECT_EQ(found->last_agreeing_value, "swish");
  EXPECT_THAT(found->other_suspects, IsEmpty());
}

TEST(FindDivergenceTest, FaultyDecomposedOperatorIsARegion) {
  TwoSides sides;
  sides.Constant("three");
  sides.Constant("six");
  DecomposedHardSwish(sides, "x", sides.x, "swish", 2.9);
  sides.Reference("aten::hardswish", "act", HardSwish(sides.x));
  sides.Node("Conv", {"swish", "w"}, "y", Mix(sides.x, 3));
  sides.Reference("aten::convolution", "conv", Mix(HardSwish(sides.x), 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/swish.add");
  EXPECT_EQ(found->module, "act");
  EXPECT_EQ(found->last_agreeing_value, "x");
  EXPECT_THAT(found->region,
              ElementsAre("/swish.add", "/swish.clip", "/swish.mul", "/swish"));
}

// Layer normalisation over all elements.
void DecomposedLayerNorm(TwoSides& sides, const Numbers& x, double epsilon) {
  const double mean =
      std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  const Numbers centred = Map(x, [mean](double v) { return v - mean; });
  const Numbers squares = Times(centred, centred);
  const double variance = std::accumulate(squares.begin(), squares.end(), 0.0) /
                          static_cast<double>(x.size());
  const double deviation = std::sqrt(variance + epsilon);
  const auto node = [&](const std::string& op, std::vector<std::string> inputs,
                        const std::string& output, const Numbers& numbers) {
    sides.NamedNode("/block/norm/" + op, op, std::move(inputs), output,
                    numbers);
  };
  node("ReduceMean", {"x"}, "mean", {mean});
  node("Sub", {"x", "mean"}, "centred", centred);
  node("Pow", {"centred", "two"}, "squares", squares);
  node("ReduceMean_1", {"squares"}, "variance", {variance});
  node("Add", {"variance", "epsilon"}, "shifted", {variance + epsilon});
  node("Sqrt", {"shifted"}, "deviation", {deviation});
  node("Div", {"centred", "deviation"}, "normal",
       Scaled(centred, 1 / deviation));
}

TEST(FindDivergenceTest, EpsilonOfADecomposedNormalizationIsInTheRegion) {
  TwoSides sides;
  for (const char* constant : {"two", "epsilon"}) sides.Constant(constant);
  DecomposedLayerNorm(sides, sides.x, 0.05);
  const double mean = std::accumulate(sides.x.begin(), sides.x.end(), 0.0) /
                      static_cast<double>(sides.x.size());
  const Numbers centred = Map(sides.x, [mean](double v) { return v - mean; });
  const double variance =
      std::inner_product(centred.begin(), centred.end(), centred.begin(), 0.0) /
      static_cast<double>(centred.size());
  sides.Reference("aten::native_layer_norm", "block.norm",
                  Scaled(centred, 1 / std::sqrt(variance + 1e-5)));
  sides.Node("MatMul", {"normal", "w"}, "y", Mix(sides.x, 5));
  sides.Reference("aten::linear", "block.fc", Mix(sides.x, 4));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->module, "block.norm");
  EXPECT_EQ(found->node, "/block/norm/ReduceMean");
  EXPECT_THAT(found->region, Contains("/block/norm/Add"));
  EXPECT_THAT(found->region, Contains("/block/norm/Div"));
  EXPECT_THAT(found->region, ::testing::Not(Contains("/y")));
}

TEST(FindDivergenceTest, ModuleLimitsTheRegionWhenNothingIsAlike) {
  TwoSides sides;
  for (const char* constant : {"two", "epsilon"}) sides.Constant(constant);
  DecomposedLayerNorm(sides, sides.x, 1e-5);
  sides.Reference("aten::native_layer_norm", "block.norm", Mix(sides.x, 9));
  sides.Node("MatMul", {"normal", "w"}, "y", Mix(sides.x, 5));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->region.size(), 7U);
  EXPECT_EQ(found->region.back(), "/block/norm/Div");
}

TEST(FindDivergenceTest, BiasThatIsANodeOfItsOwnIsInTheRegion) {
  for (const bool named : {true, false}) {
    SCOPED_TRACE(named);
    TwoSides sides;
    const std::string prefix = named ? "/block/fc/" : "";
    sides.Constant("b");
    const Numbers product = Mix(sides.x, 1);
    const Numbers right = Plus(product, Numbers(24, 3.0));
    const Numbers wrong = Plus(product, Numbers(24, 3.2));
    sides.NamedNode(prefix + "MatMul", "MatMul", {"x", "w"}, "product",
                    product);
    sides.NamedNode(prefix + "Add", "Add", {"b", "product"}, "sum", wrong);
    sides.Reference("aten::linear", "block.fc", right);
    sides.NamedNode("/block/act/Relu", "Relu", {"sum"}, "y", Relu(wrong));
    sides.Reference("aten::relu", "block.act", Relu(right));
    const auto found = sides.Find({"y"});
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->node, prefix + "MatMul");
    EXPECT_EQ(found->module, "block.fc");
    EXPECT_THAT(found->region, ElementsAre(prefix + "MatMul", prefix + "Add"));
  }
}

TEST(FindDivergenceTest, BakedBranchIsOneNode) {
  TwoSides sides;
  sides.Constant("two");
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w"}, "conv", "aten::convolution", a);
  sides.Node("Mul", {"conv", "two"}, "scaled", Scaled(a, 2));
  sides.Reference("aten::mul", "", Scaled(a, -1));
  sides.Node("Relu", {"scaled"}, "y", Relu(Scaled(a, 2)));
  sides.Reference("aten::relu", "", Relu(Scaled(a, -1)));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/scaled");
  EXPECT_THAT(found->region, ElementsAre("/scaled"));
}

TEST(FindDivergenceTest, OnlyTheWrongOutputIsFollowed) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w"}, "trunk", "aten::convolution", a);
  sides.Node("Conv", {"trunk", "w1"}, "y1", Mix(a, 3));
  sides.Reference("aten::convolution", "head1", Mix(a, 2));
  sides.Node("Conv", {"trunk", "w2"}, "y2", Mix(a, 5));
  sides.Reference("aten::convolution", "head2", Mix(a, 4));
  const auto second = sides.Find({"y2"});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->node, "/y2");
  EXPECT_THAT(second->other_suspects, IsEmpty());
  const auto both = sides.Find({"y2", "y1"});
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(both->node, "/y1");  // the first of the two faults
  EXPECT_THAT(both->other_suspects, ElementsAre("/y2"));
}

TEST(FindDivergenceTest, FirstOfTwoFaultsInAChainIsReported) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 2);
  sides.Node("Conv", {"x", "w1"}, "a", a);
  sides.Reference("aten::convolution", "a", Mix(sides.x, 1));
  sides.Node("Conv", {"a", "w2"}, "y", Mix(a, 4));
  sides.Reference("aten::convolution", "y", Mix(Mix(sides.x, 1), 3));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/a");
  EXPECT_THAT(found->other_suspects, IsEmpty());
}

TEST(FindDivergenceTest, NodeThatReachesAllWrongOutputsIsLikelier) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 2);
  // First in the graph, but it feeds one output only.
  sides.Node("Softsign", {"x"}, "odd",
             Map(sides.x, [](double v) { return v / (1 + std::abs(v)); }));
  sides.Node("Conv", {"x", "w1"}, "a", a);
  sides.Reference("aten::convolution", "a", Mix(sides.x, 1));
  sides.Node("Add", {"a", "odd"}, "y1", Plus(a, sides.x));
  sides.Node("Conv", {"a", "w2"}, "y2", Mix(a, 3));
  const auto found = sides.Find({"y1", "y2"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/a");
  EXPECT_THAT(found->other_suspects, ElementsAre("/odd"));
}

TEST(FindDivergenceTest, NodeWithACounterpartIsLikelierThanAStep) {
  TwoSides sides;
  sides.Constant("three");
  sides.Constant("six");
  // y = hardswish(x) with the last product taken of a wrong convolution.
  const Numbers shifted = Map(sides.x, [](double v) { return v + 3; });
  sides.Node("Add", {"x", "three"}, "add", shifted);
  sides.NamedNode("/gate/Conv", "Conv", {"x", "w"}, "conv", Mix(sides.x, 2));
  sides.Reference("aten::convolution", "gate", Mix(sides.x, 1));
  sides.Node("Mul", {"add", "conv"}, "y", Times(shifted, Mix(sides.x, 2)));
  sides.Reference("custom::gated", "", Times(shifted, Mix(sides.x, 1)));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/gate/Conv");
  EXPECT_EQ(found->module, "gate");
  EXPECT_THAT(found->other_suspects, ElementsAre("/add"));
}

TEST(FindDivergenceTest, WrongConstantOfASizeShowsWhereTheSizeIsUsed) {
  TwoSides sides;
  sides.Constant("factor");
  sides.Constant("wrong factor");
  sides.Node("Shape", {"x"}, "shape", {24});
  sides.Node("Mul", {"shape", "wrong factor"}, "sizes", {72});
  Numbers tripled = sides.x;
  Numbers doubled = sides.x;
  doubled.insert(doubled.end(), sides.x.begin(), sides.x.end());
  tripled.insert(tripled.end(), doubled.begin(), doubled.end());
  sides.Node("Resize", {"x", "", "", "sizes"}, "y", tripled);
  sides.Reference("aten::upsample_nearest1d", "up", doubled);
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y");
  EXPECT_EQ(found->last_agreeing_value, "x");
  // Nothing of the reference has as many elements.
  EXPECT_EQ(found->distance, std::numeric_limits<double>::infinity());
}

TEST(FindDivergenceTest, SwappedOutputsAreNamed) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  const Numbers b = Mix(sides.x, 2);
  sides.Both("Conv", {"x", "w1"}, "y2", "aten::convolution", a);
  sides.Both("Conv", {"x", "w2"}, "y1", "aten::convolution", b);
  const auto found = sides.Find({"y1", "y2"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/y2");
  EXPECT_EQ(found->value, "y2");
  EXPECT_EQ(found->distance, 0);
  EXPECT_THAT(found->other_suspects, ElementsAre("/y1"));
}

TEST(FindDivergenceTest, ConstantOutputsAreNamed) {
  TwoSides sides;
  sides.UntracedNode("/Constant", "Constant", {}, {"y"});
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/Constant");
  sides.Constant("z");
  EXPECT_EQ(sides.Find({"z"})->node, "");
  EXPECT_EQ(sides.Find({"z"})->value, "z");
}

TEST(FindDivergenceTest, UnnamedNodesAreCalledAfterTheirValue) {
  TwoSides sides;
  sides.NamedNode("", "Conv", {"x", "w"}, "/stem/conv/Conv_output_0",
                  Mix(sides.x, 3));
  const auto found = sides.Find({"/stem/conv/Conv_output_0"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/stem/conv/Conv_output_0");
  EXPECT_EQ(found->module, "stem.conv");
}

TEST(FindDivergenceTest, NothingWrongIsNothingFound) {
  TwoSides sides;
  sides.Both("Conv", {"x", "w"}, "y", "aten::convolution", Mix(sides.x, 1));
  EXPECT_FALSE(sides.Find({}).has_value());
  EXPECT_FALSE(sides.Find({"no such output"}).has_value());
}

TEST(FindDivergenceTest, StepsInIntegersDoNotHideWhatUsesThem) {
  TwoSides sides;
  sides.Both("NonZero", {"x"}, "cells", "aten::nonzero", {1, 3, 4, 7});
  sides.SetType(DType::kInt64);
  sides.Node("Mul", {"cells", "four"}, "pixels", {4, 12, 16, 28});
  sides.SetType(DType::kInt64);
  sides.Node("Cast", {"pixels"}, "corners", {4, 12, 16, 28});
  const Numbers wrong = Mix(sides.x, 3);
  sides.NamedNode("/crop/RoiAlign", "RoiAlign", {"x", "corners"}, "patches",
                  wrong);
  sides.Reference("custom::crop", "crop", Mix(sides.x, 2));
  sides.Node("Relu", {"patches"}, "y", Relu(wrong));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/crop/RoiAlign");
  EXPECT_THAT(found->other_suspects, ElementsAre("/pixels"));
  // The boxes may be wrong, too.
  EXPECT_THAT(found->region,
              ElementsAre("/pixels", "/corners", "/crop/RoiAlign"));
}

TEST(FindDivergenceTest, ValuesOfOtherModulesAreMisplaced) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.NamedNode("/first/Conv", "Conv", {"x", "w1"}, "a", a);
  sides.Reference("aten::convolution", "first", a);
  sides.NamedNode("/first/act/Relu", "Relu", {"a"}, "b", Relu(a));
  sides.Reference("aten::relu", "first.act", Relu(a));
  const Numbers c = Mix(Relu(a), 2);
  sides.NamedNode("/second/Conv", "Conv", {"b", "w2"}, "c", c);
  sides.Reference("aten::convolution", "second", c);
  // Takes a instead of c: its value is one of the reference, too.
  sides.NamedNode("/second/act/Relu", "Relu", {"a"}, "d", Relu(a));
  sides.Reference("aten::relu", "second.act", Relu(c));
  sides.NamedNode("/third/Conv", "Conv", {"d", "w3"}, "y", Mix(Relu(a), 3));
  sides.Reference("aten::convolution", "third", Mix(Relu(c), 3));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/second/act/Relu");
  EXPECT_THAT(found->other_suspects, ElementsAre("/third/Conv"));
}

TEST(FindDivergenceTest, CallsOfOneModuleAreNotMisplaced) {
  TwoSides sides;
  const Numbers a = Mix(sides.x, 1);
  sides.Both("Conv", {"x", "w1"}, "a", "aten::convolution", a);
  sides.NamedNode("/relu/Relu", "Relu", {"a"}, "b", Relu(a));
  sides.Reference("aten::relu", "relu", Relu(a));
  sides.NamedNode("/conv2/Conv", "Conv", {"b", "w2"}, "c", Mix(Relu(a), 3));
  sides.Reference("aten::convolution", "conv2", Mix(Relu(a), 2));
  sides.NamedNode("/relu/Relu_1", "Relu", {"c"}, "y", Relu(Mix(Relu(a), 3)));
  sides.Reference("aten::relu", "relu", Relu(Mix(Relu(a), 2)));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/conv2/Conv");
  EXPECT_THAT(found->other_suspects, IsEmpty());
}

TEST(FindDivergenceTest, FoldedOperatorsAreNotMisplaced) {
  TwoSides sides;
  const Numbers conv = Mix(sides.x, 1);
  const Numbers normal = Scaled(conv, 0.5);
  sides.NamedNode("/conv/Conv", "Conv", {"x", "w", "b"}, "folded", normal);
  sides.Reference("aten::convolution", "conv", conv);
  sides.Reference("aten::batch_norm", "bn", normal);
  sides.NamedNode("/last/Conv", "Conv", {"folded", "w2"}, "y", Mix(normal, 3));
  sides.Reference("aten::convolution", "last", Mix(normal, 2));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/last/Conv");
}

TEST(FindDivergenceTest, WrongOutputsCountThroughValuesThatAgreeByChance) {
  TwoSides sides;
  Numbers right(24);
  right[2] = right[7] = 1;
  Numbers wrong(24);
  wrong[2] = wrong[8] = 1;
  sides.Both("Conv", {"x", "w"}, "a", "aten::convolution", Mix(sides.x, 1));
  const Numbers a = Mix(sides.x, 1);
  sides.Node("Greater", {"x", "low"}, "mask", wrong);
  sides.Reference("aten::gt", "", right);
  // The mask should have changed a, which is a value of the reference, too.
  sides.Node("Where", {"mask", "x", "a"}, "chosen", a);
  sides.Reference("aten::where", "", Plus(a, right));
  sides.Node("Exp", {"chosen"}, "y",
             Map(a, [](double v) { return std::exp(v); }));
  const auto found = sides.Find({"y", "mask"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/mask");
  EXPECT_THAT(found->other_suspects, ElementsAre("/y"));
}

}  // namespace
}  // namespace parity
