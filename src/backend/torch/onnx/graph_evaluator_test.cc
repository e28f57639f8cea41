#include "backend/torch/onnx/graph_evaluator.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/onnx/testing/sample_graphs.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GraphEvaluatorTest : public ::testing::Test {
 private:
  c10::InferenceMode inference_;
};

// x → double → plus_one → squared, and a sum of both.
Graph Chain() {
  Graph graph = MakeGraph({"x"},
                          {MakeNode("Add", {"x", "x"}, {"doubled"}),
                           MakeNode("Add", {"doubled", "one"}, {"plus_one"}),
                           MakeNode("Mul", {"plus_one", "plus_one"}, {"y"})},
                          {"y"});
  graph.initializers = {{.name = "one", .tensor = Floats({1})}};
  return graph;
}

TEST_F(GraphEvaluatorTest, ComputesTheOutputsInDouble) {
  const GraphEvaluator evaluator = InDouble(Chain());
  EXPECT_THAT(One(evaluator.Evaluate({{"x", Floats({1, 2})}}, {})),
              ElementsAre(9, 25));
}

TEST_F(GraphEvaluatorTest, WithoutAFloatingTypeValuesKeepTheirs) {
  const GraphEvaluator evaluator(MakeModel(Chain()), std::nullopt);
  const NamedTensors outputs =
      Must(evaluator.Evaluate({{"x", Floats({1})}}, {}));
  EXPECT_EQ(outputs.at(0).tensor.dtype(), DType::kFloat32);
}

TEST_F(GraphEvaluatorTest, GivesAnyValueInTheOrderAskedFor) {
  const GraphEvaluator evaluator = InDouble(Chain());
  const NamedTensors values = Must(evaluator.Evaluate(
      {{"x", Floats({3})}}, {"y", "x", "doubled", "one", "y"}));
  ASSERT_EQ(values.size(), 4U);
  const std::vector<std::pair<std::string, double>> expected = {
      {"y", 49}, {"x", 3}, {"doubled", 6}, {"one", 1}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(values[i].name, expected[i].first);
    EXPECT_THAT(Numbers(values[i].tensor), ElementsAre(expected[i].second));
  }
}

TEST_F(GraphEvaluatorTest, AGivenValueReplacesItsNode) {
  const GraphEvaluator evaluator = InDouble(Chain());
  EXPECT_THAT(One(evaluator.Evaluate({{"doubled", Floats({9})}}, {"y"})),
              ElementsAre(100));
}

TEST_F(GraphEvaluatorTest, AGivenValueThatIsWantedIsComputed) {
  const GraphEvaluator evaluator = InDouble(Chain());
  EXPECT_THAT(
      One(evaluator.Evaluate(
          {{"doubled", Floats({9})}, {"plus_one", Floats({0})}}, {"plus_one"})),
      ElementsAre(10));
}

TEST_F(GraphEvaluatorTest, ReadersOfAGivenValueSeeItEvenWhenItIsComputed) {
  const GraphEvaluator evaluator = InDouble(Chain());
  const NamedTensors values = Must(evaluator.Evaluate(
      {{"x", Floats({1})}, {"plus_one", Floats({5})}}, {"plus_one", "y"}));
  EXPECT_THAT(Numbers(values.at(0).tensor), ElementsAre(3));
  EXPECT_THAT(Numbers(values.at(1).tensor), ElementsAre(25));
}

TEST_F(GraphEvaluatorTest, AGivenConstantReplacesTheInitializer) {
  const GraphEvaluator evaluator = InDouble(Chain());
  EXPECT_THAT(
      One(evaluator.Evaluate({{"x", Floats({1})}, {"one", Floats({2})}}, {})),
      ElementsAre(16));
}

TEST_F(GraphEvaluatorTest, OneOfTwoOutputsCanBePinned) {
  Graph graph = MakeGraph({"x", "k"},
                          {MakeNode("TopK", {"x", "k"}, {"values", "indices"}),
                           MakeNode("Gather", {"x", "indices"}, {"chosen"}),
                           MakeNode("Add", {"chosen", "values"}, {"y"})},
                          {"y"});
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  EXPECT_THAT(One(evaluator.Evaluate({{"x", Floats({5, 7, 6})},
                                      {"k", Longs({2})},
                                      {"indices", Longs({0, 0})}},
                                     {"y"})),
              ElementsAre(12, 11));
}

TEST_F(GraphEvaluatorTest, NamesEveryInputThatIsMissing) {
  const GraphEvaluator evaluator = InDouble(MakeGraph(
      {"a", "b", "c"}, {MakeNode("Sum", {"a", "b", "c"}, {"y"})}, {"y"}));
  const auto result = evaluator.Evaluate({{"b", Floats({1})}}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kIncompatible);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("'a', 'c'"), Not(HasSubstr("'b'"))));
}

TEST_F(GraphEvaluatorTest, NamesOfNoValueAreErrors) {
  const GraphEvaluator evaluator = InDouble(Chain());
  const auto wanted = evaluator.Evaluate({{"x", Floats({1})}}, {"z"});
  ASSERT_FALSE(wanted.has_value());
  EXPECT_EQ(wanted.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(wanted.error().message, HasSubstr("'z'"));
  const auto given = evaluator.Evaluate({{"w", Floats({1})}}, {});
  ASSERT_FALSE(given.has_value());
  EXPECT_EQ(given.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(given.error().message, HasSubstr("'w'"));
}

TEST_F(GraphEvaluatorTest, AnUnknownOperatorFailsOnlyWhenItsValueIsNeeded) {
  Graph graph = Chain();
  graph.nodes.insert(graph.nodes.begin() + 1,
                     MakeNode("Frobnicate", {"doubled"}, {"odd"}));
  graph.nodes[1].domain = "com.example";
  graph.outputs.push_back(graph.outputs[0]);
  graph.outputs.back().name = "odd";
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  EXPECT_THAT(evaluator.UnknownOperators(),
              ElementsAre("com.example.Frobnicate"));
  EXPECT_THAT(One(evaluator.Evaluate({{"x", Floats({1})}}, {"y"})),
              ElementsAre(9));
  const auto both = evaluator.Evaluate({{"x", Floats({1})}}, {});
  ASSERT_FALSE(both.has_value());
  EXPECT_EQ(both.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(both.error().message,
              HasSubstr("node '/odd' (com.example.Frobnicate): "));
}

TEST_F(GraphEvaluatorTest, WhatLibtorchRefusesNamesTheNodeInOneLine) {
  const GraphEvaluator evaluator = InDouble(Chain());
  const auto result = evaluator.Evaluate(
      {{"x", Floats({1, 2})}, {"one", Floats({1, 2, 3})}}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kBackend);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("node '/plus_one' (Add): "),
                    HasSubstr("must match"), Not(HasSubstr("\n"))));
}

TEST_F(GraphEvaluatorTest, IntegersStayIntegers) {
  // 2^53 + 1 has no double.
  constexpr std::int64_t kLarge = (std::int64_t{1} << 53) + 1;
  const GraphEvaluator evaluator =
      InDouble(MakeGraph({"a", "b"},
                         {MakeNode("Add", {"a", "b"}, {"sum"}),
                          MakeNode("Div", {"b", "a"}, {"quotient"}),
                          MakeNode("Equal", {"a", "a"}, {"same"})},
                         {"sum", "quotient", "same"}));
  const NamedTensors values = Must(
      evaluator.Evaluate({{"a", Longs({2})}, {"b", Longs({-kLarge})}}, {}));
  EXPECT_THAT(values.at(0).tensor.As<std::int64_t>(), ElementsAre(2 - kLarge));
  // Towards zero.
  EXPECT_THAT(values.at(1).tensor.As<std::int64_t>(),
              ElementsAre(-(kLarge / 2)));
  EXPECT_EQ(values.at(2).tensor.dtype(), DType::kBool);
}

TEST_F(GraphEvaluatorTest, InputsKeepTheirBytes) {
  const GraphEvaluator evaluator(
      MakeModel(MakeGraph(
          {"x"},
          {MakeNode("Identity", {"x"}, {"same"}),
           MakeNode("Relu", {"same"}, {"y"}), MakeNode("Neg", {"y"}, {"z"})},
          {"z"})),
      std::nullopt);
  const Tensor x = Floats({-1, 2});
  Must(evaluator.Evaluate({{"x", x}}, {}));
  EXPECT_THAT(x.As<float>(), ElementsAre(-1, 2));
}

TEST_F(GraphEvaluatorTest, TracesWhatIsComputedInOrder) {
  Graph graph = Chain();
  graph.nodes.push_back(MakeNode("Floor", {"y"}, {"steps"}));
  graph.nodes.push_back(MakeNode("Shape", {"steps"}, {"shape"}));
  graph.nodes.push_back(MakeNode("Neg", {"x"}, {"unneeded"}));
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  std::vector<TracedValue> trace;
  Must(evaluator.Evaluate(
      {{"doubled", Floats({0.5, 1})}}, {"shape", "plus_one"},
      [&](TracedValue value) { trace.push_back(std::move(value)); }));
  ASSERT_EQ(trace.size(), 4U);
  const Names names = {"plus_one", "y", "steps", "shape"};
  const Names ops = {"Add", "Mul", "Floor", "Shape"};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace[i].name, names[i]);
    EXPECT_EQ(trace[i].op, ops[i]);
    EXPECT_EQ(trace[i].module, "/" + names[i]);
  }
  EXPECT_EQ(trace[0].shape, (Shape{2}));
  EXPECT_EQ(trace[0].dtype, DType::kFloat64);
  EXPECT_DOUBLE_EQ(trace[0].sketch.sum, 3.5);
  EXPECT_FALSE(trace[0].tensor.has_value());
  ASSERT_TRUE(trace[2].tensor.has_value());
  EXPECT_THAT(trace[2].tensor->As<double>(), ElementsAre(2, 4));
  ASSERT_TRUE(trace[3].tensor.has_value());
  EXPECT_EQ(trace[3].dtype, DType::kInt64);
}

// Counts what libtorch has allocated, and the most it ever had.
class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    const std::size_t whole = (size / kHeader + 2) * kHeader;
    auto* block = static_cast<std::size_t*>(std::aligned_alloc(kHeader, whole));
    *block = size;
    now += size;
    peak = std::max(peak, now);
    return {reinterpret_cast<std::byte*>(block) + kHeader, block, &Free,
            c10::Device(c10::DeviceType::CPU)};
  }
  void copy_data(void* to, const void* from, std::size_t count) const override {
    default_copy_data(to, from, count);
  }

  static void Free(void* block) {
    now -= *static_cast<std::size_t*>(block);
    std::free(block);
  }

  static constexpr std::size_t kHeader = 64;  // keeps what follows aligned
  inline static std::size_t now = 0;
  inline static std::size_t peak = 0;
};

TEST_F(GraphEvaluatorTest, ValuesAreReleasedAfterTheirLastUse) {
  constexpr std::size_t kElements = 1U << 20U;
  constexpr std::size_t kBytes = kElements * sizeof(double);
  Graph graph = MakeGraph({"x"}, {}, {"v20"});
  for (int i = 0; i < 20; ++i) {
    const std::string weight = "w" + std::to_string(i);
    graph.initializers.push_back(
        {.name = weight, .tensor = Floats(std::vector<float>(kElements, 1))});
    const std::string from = i == 0 ? "x" : "v" + std::to_string(i);
    graph.nodes.push_back(
        MakeNode("Add", {from, weight}, {"v" + std::to_string(i + 1)}));
  }
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  const NamedTensors inputs = {{"x", Floats(std::vector<float>(kElements, 0))}};

  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, /*priority=*/1);
  const NamedTensors outputs = Must(evaluator.Evaluate(inputs, {}));
  c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), /*priority=*/1);

  EXPECT_EQ(outputs.at(0).tensor.As<double>()[0], 20);
  // The running value, a weight in double, and their sum.
  EXPECT_GE(CountingAllocator::peak, 2 * kBytes);
  EXPECT_LE(CountingAllocator::peak, 4 * kBytes);
}

TEST_F(GraphEvaluatorTest, AnInitializerWithoutValuesIsAnErrorWhenItIsNeeded) {
  Graph graph = Chain();
  graph.initializers[0].tensor = {};
  graph.initializers[0].encoded = EncodedTensor{
      .dtype = "string", .reason = "string tensors are not supported"};
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  EXPECT_THAT(One(evaluator.Evaluate({{"x", Floats({1})}}, {"doubled"})),
              ElementsAre(2));
  const auto result = evaluator.Evaluate({{"x", Floats({1})}}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message,
              AllOf(HasSubstr("/plus_one"), HasSubstr("'one'")));
}

}  // namespace
}  // namespace parity
