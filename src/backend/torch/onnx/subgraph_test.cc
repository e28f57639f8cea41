// Graphs inside of graphs, and functions.
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backend/torch/onnx/graph_evaluator.h"
#include "backend/torch/onnx/testing/sample_graphs.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SubgraphTest : public ::testing::Test {
 private:
  c10::InferenceMode inference_;
};

TEST_F(SubgraphTest, SubgraphsSeeTheValuesAroundThem) {
  // The inner subgraph takes "outer" from two graphs up.
  Graph innermost =
      MakeGraph({}, {MakeNode("Add", {"outer", "one"}, {"deep"})}, {"deep"});
  Graph then = MakeGraph({},
                         {MakeNode("If", {"condition"}, {"inner"},
                                   {Subgraph("then_branch", innermost),
                                    Subgraph("else_branch", innermost)}),
                          MakeNode("Mul", {"inner", "ten"}, {"result"})},
                         {"result"});
  then.initializers = {{.name = "ten", .tensor = Floats({10})}};
  Graph graph = MakeGraph(
      {"x", "condition"},
      {MakeNode("Neg", {"x"}, {"outer"}),
       MakeNode("If", {"condition"}, {"y"},
                {Subgraph("then_branch", then),
                 Subgraph("else_branch", MakeGraph({}, {}, {"outer"}))})},
      {"y"});
  graph.initializers = {{.name = "one", .tensor = Floats({1})}};
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  const auto evaluate = [&](std::uint8_t condition) {
    return One(evaluator.Evaluate(
        {{"x", Floats({3})}, {"condition", Bools({condition})}}, {}));
  };
  EXPECT_THAT(evaluate(1), ElementsAre(-20));
  EXPECT_THAT(evaluate(0), ElementsAre(-3));
}

TEST_F(SubgraphTest, ALoopCarriesAndCollectsValues) {
  Graph body = MakeGraph({"i", "go_on", "total"},
                         {MakeNode("Add", {"total", "step"}, {"next"}),
                          MakeNode("Less", {"next", "limit"}, {"again"}),
                          MakeNode("Identity", {"next"}, {"seen"})},
                         {"again", "next", "seen"});
  Graph graph =
      MakeGraph({"trips", "start", "step", "limit"},
                {MakeNode("Loop", {"trips", "", "start"}, {"total", "all"},
                          {Subgraph("body", body)})},
                {"total", "all"});
  const GraphEvaluator evaluator = InDouble(std::move(graph));
  const auto evaluate = [&](std::int64_t trips, std::int64_t limit) {
    const auto scalar = [](std::int64_t value) {
      return Tensor::From(DType::kInt64, {},
                          std::span<const std::int64_t>(&value, 1))
          .value();
    };
    return Must(evaluator.Evaluate({{"trips", scalar(trips)},
                                    {"start", scalar(0)},
                                    {"step", scalar(2)},
                                    {"limit", scalar(limit)}},
                                   {}));
  };
  const NamedTensors counted = evaluate(3, 100);
  EXPECT_THAT(Numbers(counted.at(0).tensor), ElementsAre(6));
  EXPECT_THAT(Numbers(counted.at(1).tensor), ElementsAre(2, 4, 6));
  EXPECT_THAT(Numbers(evaluate(100, 3).at(1).tensor), ElementsAre(2, 4));
  const NamedTensors none = evaluate(0, 100);
  EXPECT_THAT(Numbers(none.at(0).tensor), ElementsAre(0));
  EXPECT_EQ(none.at(1).tensor.element_count(), 0);
}

// A function "Scaled" that multiplies by its attribute "factor", 2 by default.
Model ModelWithFunction(std::vector<Attribute> call_attributes) {
  Node constant =
      MakeNode("Constant", {}, {"c"},
               {{.name = "value_float",
                 .value = EncodedAttribute{.kind = "reference to 'factor'"}}});
  Function function;
  function.domain = "local";
  function.name = "Scaled";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.default_attributes = {{.name = "factor", .value = 2.0F}};
  function.nodes = {constant, MakeNode("Mul", {"a", "c"}, {"b"})};
  Node call = MakeNode("Scaled", {"x"}, {"y"}, std::move(call_attributes));
  call.domain = "local";
  Model model = MakeModel(MakeGraph({"x"}, {call}, {"y"}));
  model.functions = {function};
  return model;
}

TEST_F(SubgraphTest, FunctionsTakeTheAttributesOfTheirCall) {
  const NamedTensors inputs = {{"x", Floats({3})}};
  const GraphEvaluator with_default(ModelWithFunction({}),
                                    c10::ScalarType::Double);
  EXPECT_THAT(with_default.UnknownOperators(), IsEmpty());
  EXPECT_THAT(One(with_default.Evaluate(inputs, {})), ElementsAre(6));
  const GraphEvaluator with_five(
      ModelWithFunction({{.name = "factor", .value = 5.0F}}),
      c10::ScalarType::Double);
  EXPECT_THAT(One(with_five.Evaluate(inputs, {})), ElementsAre(15));
}

TEST_F(SubgraphTest, AFunctionThatCallsItselfIsAnError) {
  Model model = ModelWithFunction({});
  model.functions[0].nodes[1].op_type = "Scaled";
  model.functions[0].nodes[1].domain = "local";
  model.functions[0].nodes[1].inputs = {"c"};
  const GraphEvaluator evaluator(std::move(model), c10::ScalarType::Double);
  const auto result = evaluator.Evaluate({{"x", Floats({3})}}, {});
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("calls itself"));
}

}  // namespace
}  // namespace parity
