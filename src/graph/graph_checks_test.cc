#include "graph/graph_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

ValueInfo Value(std::string name) {
  ValueInfo info;
  info.name = std::move(name);
  return info;
}

Node MakeNode(std::string name, std::string op_type,
              std::vector<std::string> inputs,
              std::vector<std::string> outputs) {
  Node node;
  node.name = std::move(name);
  node.op_type = std::move(op_type);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

// y = Relu(Conv(x, w))
Model MakeModel() {
  Model model;
  model.graph.inputs = {Value("x")};
  model.graph.outputs = {Value("y")};
  model.graph.initializers.push_back({.name = "w", .tensor = {}});
  model.graph.nodes = {MakeNode("/conv1/Conv", "Conv", {"x", "w"}, {"c"}),
                       MakeNode("/relu/Relu", "Relu", {"c"}, {"y"})};
  return model;
}

// MakeModel() with an If after the Conv, whose branch is `body`.
Model WithBranch(const Graph& body) {
  Model model = MakeModel();
  Node branch = MakeNode("/If", "If", {"c"}, {"z"});
  branch.attributes.push_back(
      {.name = "then_branch", .value = std::make_shared<Graph>(body)});
  model.graph.nodes.insert(model.graph.nodes.begin() + 1, branch);
  return model;
}

Graph Branch(const std::string& used) {
  Graph body;
  body.name = "body";
  body.nodes = {MakeNode("/inner", "Neg", {used}, {"n"})};
  body.outputs = {Value("n")};
  return body;
}

TEST(GraphChecksTest, AValidModelHasNoProblems) {
  EXPECT_THAT(StructureProblems(MakeModel()), IsEmpty());
  EXPECT_TRUE(CheckStructure(MakeModel()).has_value());
}

TEST(GraphChecksTest, AValueThatIsDefinedNowhereNamesItsNode) {
  Model model = MakeModel();
  model.graph.initializers.clear();
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node '/conv1/Conv': input 'w' is defined nowhere"));
}

TEST(GraphChecksTest, NodesOutOfOrderNameBoth) {
  Model model = MakeModel();
  std::swap(model.graph.nodes[0], model.graph.nodes[1]);
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node '/relu/Relu': input 'c' is used before node "
                          "'/conv1/Conv' defines it"));
}

TEST(GraphChecksTest, ANodeThatUsesItsOwnOutputIsOutOfOrder) {
  Model model = MakeModel();
  model.graph.nodes[1].inputs = {"y"};
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node '/relu/Relu': input 'y' is used before node "
                          "'/relu/Relu' defines it"));
}

TEST(GraphChecksTest, ValuesDefinedTwiceAreReported) {
  Model model = MakeModel();
  model.graph.nodes[1].outputs = {"y", "c"};
  model.graph.inputs.push_back(Value("x"));
  model.graph.initializers.push_back({.name = "w", .tensor = {}});
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("the graph's inputs: value 'x' is already defined",
                          "initializer 'w' occurs twice",
                          "node '/relu/Relu': value 'c' is already defined"));
}

TEST(GraphChecksTest, ANodeMayNotRedefineAnInitializer) {
  Model model = MakeModel();
  model.graph.nodes[0].outputs.emplace_back("w");
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node '/conv1/Conv': value 'w' is already defined"));
}

TEST(GraphChecksTest, AnInitializerMayBeTheDefaultOfAnInput) {
  Model model = MakeModel();
  model.graph.inputs.push_back(Value("w"));
  EXPECT_THAT(StructureProblems(model), IsEmpty());
}

TEST(GraphChecksTest, OmittedInputsAndOutputsAreNoValues) {
  Model model = MakeModel();
  model.graph.nodes[0].inputs = {"x", "w", ""};
  model.graph.nodes[0].outputs = {"c", "", ""};
  EXPECT_THAT(StructureProblems(model), IsEmpty());
}

TEST(GraphChecksTest, OutputsMustExistOnce) {
  Model model = MakeModel();
  model.graph.outputs = {Value("y"), Value("pha"), Value("y")};
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("output 'pha' is defined nowhere",
                          "output 'y' is listed twice"));
  model.graph.outputs.clear();
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("the graph has no outputs"));
}

TEST(GraphChecksTest, ANodeWithoutOpTypeIsNamedByItsPlace) {
  Model model = MakeModel();
  model.graph.nodes[1].op_type.clear();
  model.graph.nodes[1].name.clear();
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node 1 (unnamed, no op_type): has no op_type"));
}

TEST(GraphChecksTest, ASubgraphSeesOnlyWhatIsDefinedBeforeItsNode) {
  EXPECT_THAT(StructureProblems(WithBranch(Branch("c"))), IsEmpty());
  EXPECT_THAT(StructureProblems(WithBranch(Branch("w"))), IsEmpty());
  EXPECT_THAT(StructureProblems(WithBranch(Branch("y"))),
              ElementsAre("node '/If': graph 'body': node '/inner': input 'y' "
                          "is defined nowhere"));
}

TEST(GraphChecksTest, ValuesOfASubgraphAreNotSeenOutside) {
  Model model = WithBranch(Branch("c"));
  model.graph.nodes[2].inputs = {"n"};
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("node '/relu/Relu': input 'n' is defined nowhere"));
}

TEST(GraphChecksTest, FunctionsSeeOnlyTheirInputs) {
  Model model = MakeModel();
  Function function;
  function.domain = "local";
  function.name = "Twice";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.nodes = {MakeNode("", "Add", {"a", "x"}, {"b"})};
  model.functions = {function};
  EXPECT_THAT(StructureProblems(model),
              ElementsAre("function 'Twice': node 0 (unnamed, Add): input 'x' "
                          "is defined nowhere"));
}

TEST(GraphChecksTest, TheErrorCarriesTheFirstProblemAndTheNumberOfOthers) {
  Model model = MakeModel();
  model.graph.initializers.clear();
  model.graph.outputs = {Value("pha")};
  const Status status = CheckStructure(model);
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(status.error().message,
            "node '/conv1/Conv': input 'w' is defined nowhere (and 1 more)");
  EXPECT_EQ(StructureProblems(model, 1).size(), 1U);
}

TEST(GraphChecksTest, TheHistogramCountsSubgraphsAndNamesOtherDomains) {
  Model model = WithBranch(Branch("c"));
  model.graph.nodes.push_back(MakeNode("", "Neg", {"y"}, {"v"}));
  model.graph.nodes.back().domain = "ai.onnx";
  model.graph.nodes.push_back(MakeNode("", "FusedConv", {"y"}, {"u"}));
  model.graph.nodes.back().domain = "com.microsoft";
  EXPECT_THAT(OpHistogram(model.graph),
              ElementsAre(Pair("Conv", 1), Pair("If", 1), Pair("Neg", 2),
                          Pair("Relu", 1), Pair("com.microsoft.FusedConv", 1)));
}

TEST(GraphChecksTest, AnInitializerWithoutValuesSaysWhy) {
  Initializer initializer{.name = "vocabulary", .tensor = {}};
  initializer.encoded =
      EncodedTensor{.dtype = "string",
                    .shape = {7},
                    .reason = "tensors of string are not supported"};
  const auto values = initializer.Values();
  ASSERT_FALSE(values.has_value());
  EXPECT_EQ(values.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(values.error().message,
            "initializer 'vocabulary' (string of shape 7) has no values: "
            "tensors of string are not supported");
}

}  // namespace
}  // namespace parity
