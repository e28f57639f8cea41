#include "graph/subgraph_extraction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ValueInfo Value(std::string name) {
  ValueInfo info;
  info.name = std::move(name);
  info.dtype = DType::kFloat32;
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

Initializer Weight(std::string name) {
  return {.name = std::move(name),
          .tensor = *Tensor::From<float>(DType::kFloat32, {1},
                                         std::vector<float>{2})};
}

// Indices of the nodes of MakeModel().
enum : std::size_t { kConv, kConstant, kRelu, kResize };

// y = Resize(Relu(Conv(x, w)), ·, ·, the Constant s); v is used by nobody.
Model MakeModel() {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 17}};
  model.metadata = {{"network", "whole"}};
  model.graph.name = "whole";
  model.graph.inputs = {Value("x")};
  model.graph.outputs = {Value("y")};
  model.graph.value_infos = {Value("c"), Value("r")};
  model.graph.initializers = {Weight("w"), Weight("v")};
  model.graph.nodes = {
      MakeNode("/Conv", "Conv", {"x", "w"}, {"c"}),
      MakeNode("/Constant", "Constant", {}, {"s"}),
      MakeNode("/Relu", "Relu", {"c"}, {"r"}),
      MakeNode("/Resize", "Resize", {"r", "", "", "s"}, {"y"})};
  return model;
}

std::vector<std::string> NodeNames(const Model& model) {
  std::vector<std::string> names;
  names.reserve(model.graph.nodes.size());
  for (const Node& node : model.graph.nodes) names.push_back(node.name);
  return names;
}

TEST(SubgraphExtractionTest, ANodeNeedsItsInputsButNoConstants) {
  const Model model = MakeModel();
  EXPECT_THAT(ValuesNeeded(model.graph, {{kConv}}), ElementsAre("x"));
  EXPECT_THAT(ValuesNeeded(model.graph, {{kResize}}), ElementsAre("r"));
  EXPECT_THAT(ValuesNeeded(model.graph, {{kRelu, kResize}}), ElementsAre("c"));
}

TEST(SubgraphExtractionTest, ANodeComesWithItsConstantsAndNothingElse) {
  const Model model = MakeModel();
  const Model resize = ExtractNodes(
      model,
      {.nodes = {kResize}, .inputs = {Value("r")}, .outputs = {Value("y")}});
  EXPECT_THAT(NodeNames(resize), ElementsAre("/Constant", "/Resize"));
  EXPECT_THAT(resize.graph.initializers, IsEmpty());
  EXPECT_THAT(StructureProblems(resize), IsEmpty());
  EXPECT_EQ(resize.ir_version, 8);
  EXPECT_EQ(resize.opset_version(), 17);
  EXPECT_THAT(resize.metadata, IsEmpty());

  const Model conv = ExtractNodes(
      model,
      {.nodes = {kConv}, .inputs = {Value("x")}, .outputs = {Value("c")}});
  EXPECT_THAT(NodeNames(conv), ElementsAre("/Conv"));
  ASSERT_EQ(conv.graph.initializers.size(), 1U);
  EXPECT_EQ(conv.graph.initializers[0].name, "w");
  // Shared, not copied.
  EXPECT_EQ(conv.graph.initializers[0].tensor.bytes().data(),
            model.graph.initializers[0].tensor.bytes().data());
  // An output's type is declared once.
  EXPECT_THAT(conv.graph.value_infos, IsEmpty());
  EXPECT_THAT(StructureProblems(conv), IsEmpty());
}

TEST(SubgraphExtractionTest, NodesKeepTheGraphsOrderAndTheirInnerTypes) {
  const Model cut = ExtractNodes(MakeModel(), {.nodes = {kResize, kRelu, kConv},
                                               .inputs = {Value("x")},
                                               .outputs = {Value("y")}});
  EXPECT_THAT(NodeNames(cut),
              ElementsAre("/Conv", "/Constant", "/Relu", "/Resize"));
  ASSERT_EQ(cut.graph.value_infos.size(), 2U);
  EXPECT_THAT(StructureProblems(cut), IsEmpty());
}

// Then: q = Add(p, c) in a Loop's body inside, where p is the body's own and c
// the main graph's; the branch also uses the initializer w and returns r.
Node BranchNode() {
  auto inner = std::make_shared<Graph>();
  inner->inputs = {Value("p")};
  inner->outputs = {Value("q")};
  inner->nodes = {MakeNode("/Add", "Add", {"p", "c"}, {"q"})};
  Node loop = MakeNode("/Loop", "Loop", {"t"}, {"l"});
  loop.attributes.push_back({.name = "body", .value = inner});
  auto then = std::make_shared<Graph>();
  then->nodes = {MakeNode("/Mul", "Mul", {"r", "w"}, {"t"}), loop};
  then->outputs = {Value("l"), Value("x")};
  Node branch = MakeNode("/If", "If", {"r"}, {"z", "u"});
  branch.attributes.push_back({.name = "then_branch", .value = then});
  return branch;
}

TEST(SubgraphExtractionTest, ABranchNeedsWhatItsBodiesUseFromOutside) {
  Model model = MakeModel();
  model.graph.nodes.push_back(BranchNode());
  const std::size_t branch = model.graph.nodes.size() - 1;
  EXPECT_THAT(NamesUsed(model.graph.nodes[branch]),
              ElementsAre("r", "w", "c", "x"));
  EXPECT_THAT(ValuesNeeded(model.graph, {{branch}}),
              ElementsAre("r", "c", "x"));
  const Model cut =
      ExtractNodes(model, {.nodes = {branch},
                           .inputs = {Value("r"), Value("c"), Value("x")},
                           .outputs = {Value("z")}});
  ASSERT_EQ(cut.graph.initializers.size(), 1U);
  EXPECT_EQ(cut.graph.initializers[0].name, "w");
  EXPECT_THAT(StructureProblems(cut), IsEmpty());
}

TEST(SubgraphExtractionTest, InitializersThatAreInputsStayBoth) {
  Model model = MakeModel();
  model.ir_version = 3;
  model.graph.inputs.push_back(Value("w"));
  model.graph.inputs.push_back(Value("v"));
  EXPECT_THAT(ValuesNeeded(model.graph, {{kConv}}), ElementsAre("x"));
  const Model cut = ExtractNodes(
      model,
      {.nodes = {kConv}, .inputs = {Value("x")}, .outputs = {Value("c")}});
  ASSERT_EQ(cut.graph.inputs.size(), 2U);
  EXPECT_EQ(cut.graph.inputs[1].name, "w");
  EXPECT_EQ(cut.graph.RequiredInputs().size(), 1U);
}

TEST(SubgraphExtractionTest, FunctionsStay) {
  Model model = MakeModel();
  Function& function = model.functions.emplace_back();
  function.domain = "local";
  function.name = "Twice";
  model.graph.nodes[kRelu].domain = "local";
  model.graph.nodes[kRelu].op_type = "Twice";
  const Model cut = ExtractNodes(
      model,
      {.nodes = {kRelu}, .inputs = {Value("c")}, .outputs = {Value("r")}});
  ASSERT_EQ(cut.functions.size(), 1U);
  EXPECT_EQ(cut.functions[0].name, "Twice");
}

}  // namespace
}  // namespace parity
