#include "diagnose/value_alignment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/splitmix.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Numbers = std::vector<double>;

Numbers Random(std::size_t count, std::uint64_t seed) {
  const SplitMixStream stream("alignment", seed);
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(stream.Uniform(i) * 2 - 1);
  return numbers;
}

Numbers Map(Numbers numbers, const std::function<double(double)>& function) {
  for (double& number : numbers) number = function(number);
  return numbers;
}

Numbers Zip(Numbers a, const Numbers& b,
            const std::function<double(double, double)>& function) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = function(a[i], b[i]);
  return a;
}

// Stands for a convolution: every element depends on all others.
Numbers Mix(const Numbers& numbers, std::uint64_t weights) {
  const Numbers weight = Random(numbers.size(), weights);
  Numbers mixed;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k)
      sum += numbers[k] * weight[(i * 7 + k * 3) % weight.size()];
    mixed.push_back(sum);
  }
  return mixed;
}

Numbers Relu(const Numbers& numbers) {
  return Map(numbers, [](double x) { return x > 0 ? x : 0; });
}
Numbers Scaled(const Numbers& numbers, double by) {
  return Map(numbers, [by](double x) { return x * by; });
}
Numbers Plus(const Numbers& a, const Numbers& b) {
  return Zip(a, b, std::plus<>());
}
Numbers Times(const Numbers& a, const Numbers& b) {
  return Zip(a, b, std::multiplies<>());
}

// Rows become columns.
Numbers Transposed(const Numbers& numbers, std::size_t columns) {
  Numbers transposed;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t i = c; i < numbers.size(); i += columns)
      transposed.push_back(numbers[i]);
  }
  return transposed;
}

// Both sides of a network, built step by step.
class Sides {
 public:
  Sides() { AddInput("x", x); }

  void AddInput(const std::string& name, const Numbers& numbers) {
    inputs_.push_back(Traced(name, "", "", numbers, {}));
    ValueInfo& input = graph.inputs.emplace_back();
    input.name = name;
  }

  // A node with one output, named after it.
  void Node(const std::string& op, std::vector<std::string> inputs,
            const std::string& output, const Numbers& numbers,
            Shape shape = {}) {
    NamedNode("/" + output, op, std::move(inputs), output, numbers,
              std::move(shape));
  }
  void NamedNode(const std::string& name, const std::string& op,
                 std::vector<std::string> inputs, const std::string& output,
                 const Numbers& numbers, Shape shape = {}) {
    UntracedNode(name, op, std::move(inputs), {output});
    candidate_.push_back(Traced(output, op, name, numbers, std::move(shape)));
  }
  void UntracedNode(const std::string& name, const std::string& op,
                    std::vector<std::string> inputs,
                    std::vector<std::string> outputs) {
    graph.nodes.push_back({.name = name,
                           .op_type = op,
                           .domain = "",
                           .inputs = std::move(inputs),
                           .outputs = std::move(outputs),
                           .attributes = {}});
  }
  void Constant(const std::string& name) {
    graph.initializers.push_back({.name = name, .tensor = {}});
  }
  void Reference(const std::string& op, const std::string& module,
                 const Numbers& numbers, Shape shape = {}) {
    reference_.push_back(Traced("", op, module, numbers, std::move(shape)));
  }
  // The same operator and value on both sides.
  void Both(const std::string& op, std::vector<std::string> inputs,
            const std::string& output, const std::string& torch_op,
            const Numbers& numbers) {
    Node(op, std::move(inputs), output, numbers);
    Reference(torch_op, output, numbers);
  }

  [[nodiscard]] std::optional<Divergence> Find(
      const std::vector<std::string>& outputs) const {
    return FindDivergence({.graph = graph,
                           .reference = reference_,
                           .candidate = candidate_,
                           .inputs = inputs_,
                           .wrong_outputs = outputs,
                           .tolerance = 1e-6});
  }

  const Numbers x = Random(24, 1);
  Graph graph;

 private:
  static TracedValue Traced(const std::string& name, const std::string& op,
                            const std::string& module, const Numbers& numbers,
                            Shape shape) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const Tensor tensor =
        *Tensor::From<double>(DType::kFloat64, {count}, numbers);
    if (shape.empty()) shape = {count};
    return {.name = name,
            .op = op,
            .module = module,
            .dtype = DType::kFloat64,
            .shape = std::move(shape),
            .sketch = SketchOf(tensor.view())};
  }

  std::vector<TracedValue> inputs_;
  std::vector<TracedValue> reference_;
  std::vector<TracedValue> candidate_;
};

TEST(FindDivergenceTest, WrongConvolutionInAChain) {
  Sides sides;
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
  Sides sides;
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
  Sides sides;
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
    Sides sides;
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
void DecomposedHardSwish(Sides& sides, const std::string& from,
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
  Sides sides;
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
  Sides sides;
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
void DecomposedLayerNorm(Sides& sides, const Numbers& x, double epsilon) {
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
  Sides sides;
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
  Sides sides;
  for (const char* constant : {"two", "epsilon"}) sides.Constant(constant);
  DecomposedLayerNorm(sides, sides.x, 1e-5);
  sides.Reference("aten::native_layer_norm", "block.norm", Mix(sides.x, 9));
  sides.Node("MatMul", {"normal", "w"}, "y", Mix(sides.x, 5));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->region.size(), 7U);
  EXPECT_EQ(found->region.back(), "/block/norm/Div");
}

TEST(FindDivergenceTest, BakedBranchIsOneNode) {
  Sides sides;
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
  Sides sides;
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
  Sides sides;
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
  Sides sides;
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
  Sides sides;
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

TEST(FindDivergenceTest, TransposedCopiesAreExplained) {
  Sides sides;
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

TEST(FindDivergenceTest, PartsInTheWrongOrderAreNotExplained) {
  Sides sides;
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

TEST(FindDivergenceTest, WhatReordersASuspectsInputsIsNamed) {
  Sides sides;
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

TEST(FindDivergenceTest, OtherMaskWithAsManyElementsIsNotExplained) {
  Sides sides;
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

TEST(FindDivergenceTest, NotFiniteValuesAreNotExplained) {
  Sides sides;
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

TEST(FindDivergenceTest, WrongConstantOfASizeShowsWhereTheSizeIsUsed) {
  Sides sides;
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

TEST(FindDivergenceTest, ZerosExplainOnlyZeros) {
  Sides sides;
  const Numbers zeros(24);
  sides.Reference("aten::zeros", "", zeros);
  sides.Node("Mul", {"x", "w"}, "scaled", Scaled(sides.x, 1e-9));
  sides.Reference("aten::mul", "", sides.x);
  sides.Node("Mul", {"scaled", "w"}, "y", Scaled(sides.x, 1e-12));
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/scaled");
}

TEST(FindDivergenceTest, ZerosAreExplainedOnlyByTheirOwnOperator) {
  Sides sides;
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

TEST(FindDivergenceTest, WeakValuesDoNotStopTheWalk) {
  Sides sides;
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

TEST(FindDivergenceTest, SwappedOutputsAreNamed) {
  Sides sides;
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
  Sides sides;
  sides.UntracedNode("/Constant", "Constant", {}, {"y"});
  const auto found = sides.Find({"y"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/Constant");
  sides.Constant("z");
  EXPECT_EQ(sides.Find({"z"})->node, "");
  EXPECT_EQ(sides.Find({"z"})->value, "z");
}

TEST(FindDivergenceTest, ValuesWithoutATraceAreWhatTheyAreComputedFrom) {
  Sides sides;
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

TEST(FindDivergenceTest, SubgraphsUseValuesAroundThem) {
  Sides sides;
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

TEST(FindDivergenceTest, UnnamedNodesAreCalledAfterTheirValue) {
  Sides sides;
  sides.NamedNode("", "Conv", {"x", "w"}, "/stem/conv/Conv_output_0",
                  Mix(sides.x, 3));
  const auto found = sides.Find({"/stem/conv/Conv_output_0"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->node, "/stem/conv/Conv_output_0");
  EXPECT_EQ(found->module, "stem.conv");
}

TEST(FindDivergenceTest, NothingWrongIsNothingFound) {
  Sides sides;
  sides.Both("Conv", {"x", "w"}, "y", "aten::convolution", Mix(sides.x, 1));
  EXPECT_FALSE(sides.Find({}).has_value());
  EXPECT_FALSE(sides.Find({"no such output"}).has_value());
}

}  // namespace
}  // namespace parity
