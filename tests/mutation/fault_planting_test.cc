#include "fault_planting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_checks.h"
#include "graph/model.h"
#include "graph_lines.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::IsSupersetOf;
using ::testing::SizeIs;

std::vector<std::string> NamesOf(const std::vector<ValueInfo>& infos) {
  std::vector<std::string> names;
  names.reserve(infos.size());
  for (const ValueInfo& info : infos) names.push_back(info.name);
  return names;
}

const Node* NodeNamed(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.graph.nodes, name, &Node::name);
  return found == model.graph.nodes.end() ? nullptr : &*found;
}

void ExpectSound(const Model& correct, const PlantedFault& fault) {
  EXPECT_EQ(StructureProblems(fault.model), std::vector<std::string>{});
  EXPECT_EQ(NamesOf(fault.model.graph.outputs), NamesOf(correct.graph.outputs));
  EXPECT_EQ(NamesOf(fault.model.graph.inputs), NamesOf(correct.graph.inputs));
  const Node* const node = NodeNamed(correct, fault.node);
  ASSERT_NE(node, nullptr) << fault.node;
  EXPECT_TRUE(std::ranges::contains(node->outputs, fault.value));
  EXPECT_FALSE(fault.way.empty());
  EXPECT_TRUE(fault.description.starts_with(node->op_type));
}

// One node differs: in an attribute, an input, or the contents of a constant.
void ExpectOneChange(const std::vector<std::string>& before,
                     const PlantedFault& fault) {
  const std::vector<std::string> after = GraphLines(fault.model.graph);
  EXPECT_THAT(LinesOnlyIn(before, after), SizeIs(1));
  EXPECT_THAT(LinesOnlyIn(after, before), SizeIs(1));
  EXPECT_EQ(before.size(), after.size());
  EXPECT_TRUE(fault.added.empty());
}

void ExpectInsertedCasts(const std::vector<std::string>& before,
                         const PlantedFault& fault) {
  const std::vector<std::string> after = GraphLines(fault.model.graph);
  EXPECT_EQ(after.size(), before.size() + 2);
  // The node whose value is cast gives it another name.
  EXPECT_THAT(LinesOnlyIn(before, after), SizeIs(1));
  EXPECT_THAT(LinesOnlyIn(after, before), SizeIs(3));
  ASSERT_THAT(fault.added, SizeIs(2));
  for (const std::string& name : fault.added) {
    ASSERT_NE(NodeNamed(fault.model, name), nullptr) << name;
    EXPECT_EQ(NodeNamed(fault.model, name)->op_type, "Cast");
  }
  EXPECT_EQ(NodeNamed(fault.model, fault.added[1])->outputs[0], fault.value);
}

// Every user of either value still uses it, under its new name.
void ExpectExchangedOutputs(const Model& correct, const PlantedFault& fault) {
  const auto uses = [](const Model& model, const std::string& name) {
    std::size_t count = 0;
    for (const Node& node : model.graph.nodes)
      count += static_cast<std::size_t>(std::ranges::count(node.inputs, name));
    return count;
  };
  EXPECT_EQ(fault.value, "pha_sm");
  EXPECT_EQ(uses(fault.model, "pha_sm"), uses(correct, "err_sm"));
  EXPECT_EQ(uses(fault.model, "err_sm"), uses(correct, "pha_sm"));
  EXPECT_EQ(NodeNamed(fault.model, fault.node)->outputs[0], "err_sm");
}

TEST(PlantFaultTest, EveryKindChangesOneThingOfTheMattingNetwork) {
  for (const bool folded : {true, false}) {
    const Model& correct = MattingModel(folded);
    const std::vector<std::string> before = GraphLines(correct.graph);
    for (const FaultKind kind : kFaultKinds) {
      for (std::uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(::testing::Message() << Name(kind) << ' ' << seed);
        const Result<PlantedFault> fault = PlantFault(correct, kind, seed);
        ASSERT_TRUE(fault.has_value()) << fault.error().message;
        SCOPED_TRACE(fault->description);
        ExpectSound(correct, *fault);
        if (kind == FaultKind::kDtype) {
          ExpectInsertedCasts(before, *fault);
        } else if (kind == FaultKind::kOutputOrder) {
          ExpectExchangedOutputs(correct, *fault);
        } else {
          ExpectOneChange(before, *fault);
        }
      }
    }
    EXPECT_EQ(GraphLines(correct.graph), before);
  }
}

TEST(PlantFaultTest, SeedsDecide) {
  const Model& correct = MattingModel(true);
  for (const FaultKind kind : kFaultKinds) {
    SCOPED_TRACE(Name(kind));
    std::set<std::string> descriptions;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const PlantedFault one = PlantFault(correct, kind, seed).value();
      const PlantedFault again = PlantFault(correct, kind, seed).value();
      EXPECT_EQ(one.description, again.description);
      EXPECT_EQ(GraphLines(one.model.graph), GraphLines(again.model.graph));
      descriptions.insert(one.description);
    }
    if (kind != FaultKind::kOutputOrder) {
      EXPECT_GT(descriptions.size(), 3U);
    }
  }
}

std::set<std::string> Ways(const Model& model, FaultKind kind) {
  std::set<std::string> ways;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    ways.insert(PlantFault(model, kind, seed).value().way);
  return ways;
}

TEST(PlantFaultTest, AllWaysAreMet) {
  EXPECT_THAT(Ways(MattingModel(false), FaultKind::kAttribute),
              IsSupersetOf({"dilation", "epsilon", "mode", "nearest_mode",
                            "coordinate_transformation_mode"}));
  EXPECT_THAT(Ways(MattingModel(true), FaultKind::kWeight),
              IsSupersetOf({"all scaled", "one output channel scaled",
                            "one filter zero", "one element shifted",
                            "input channels swapped"}));
  EXPECT_THAT(Ways(MattingModel(true), FaultKind::kBias),
              IsSupersetOf({"shifted", "dropped"}));
  EXPECT_THAT(Ways(MattingModel(true), FaultKind::kWiring),
              IsSupersetOf({"inputs swapped", "other value"}));
  EXPECT_THAT(Ways(MattingModel(true), FaultKind::kDtype),
              IsSupersetOf({"through float16", "through int32"}));
  EXPECT_THAT(Ways(MattingModel(true), FaultKind::kConstant),
              IsSupersetOf({"operand", "clip bound", "threshold"}));
}

// A graph of float values (1,2,4,4), as far as it matters.
class Small {
 public:
  Small() {
    for (const char* name : {"x", "z"}) {
      ValueInfo& input = model.graph.inputs.emplace_back();
      input.name = name;
      input.dtype = DType::kFloat32;
    }
    model.ir_version = 8;
    model.opset_imports = {{.domain = "", .version = 17}};
  }

  void Add(const std::string& op, std::vector<std::string> inputs,
           const std::string& output, std::vector<Attribute> attributes = {}) {
    model.graph.nodes.push_back({.name = "/" + output,
                                 .op_type = op,
                                 .domain = "",
                                 .inputs = std::move(inputs),
                                 .outputs = {output},
                                 .attributes = std::move(attributes)});
  }
  void Constant(const std::string& name, Shape shape,
                const std::vector<float>& values) {
    model.graph.initializers.push_back(
        {.name = name,
         .tensor =
             Tensor::From<float>(DType::kFloat32, std::move(shape), values)
                 .value()});
  }
  void Output(const std::string& name) {
    model.graph.outputs.emplace_back().name = name;
  }

  Model model;
};

const Tensor& ConstantOf(const Model& model, const std::string& name) {
  const auto found =
      std::ranges::find(model.graph.initializers, name, &Initializer::name);
  EXPECT_NE(found, model.graph.initializers.end()) << name;
  return found->tensor;
}

TEST(PlantFaultTest, KindsThatDoNotApplyAreNotFound) {
  Small small;
  small.Add("Relu", {"x"}, "y");
  small.Output("y");
  for (const FaultKind kind :
       {FaultKind::kAttribute, FaultKind::kWeight, FaultKind::kBias,
        FaultKind::kPadding, FaultKind::kWiring, FaultKind::kConstant,
        FaultKind::kOutputOrder}) {
    const Result<PlantedFault> fault = PlantFault(small.model, kind, 0);
    ASSERT_FALSE(fault.has_value()) << Name(kind) << fault->description;
    EXPECT_EQ(fault.error().code, ErrorCode::kNotFound);
  }
  EXPECT_TRUE(PlantFault(small.model, FaultKind::kDtype, 0).has_value());
}

TEST(PlantFaultTest, WeightsChangeAsTheDescriptionSays) {
  Small small;
  const std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  small.Constant("w", {2, 3, 1, 1}, weights);
  small.Add("Conv", {"x", "w"}, "y");
  small.Output("y");
  std::set<std::string> ways;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const PlantedFault fault =
        PlantFault(small.model, FaultKind::kWeight, seed).value();
    SCOPED_TRACE(fault.description);
    ways.insert(fault.way);
    const Node& node = fault.model.graph.nodes[0];
    const std::span<const float> after =
        ConstantOf(fault.model, node.inputs[1]).As<float>();
    ASSERT_EQ(after.size(), weights.size());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      changed += after[i] != weights[i] ? 1 : 0;
    if (fault.way == "all scaled") {
      EXPECT_EQ(changed, 6U);
      EXPECT_FLOAT_EQ(after[5], 6.06F);
    } else if (fault.way == "one output channel scaled") {
      EXPECT_EQ(changed, 3U);
      EXPECT_TRUE(after[0] == 1.1F || std::abs(after[5] - 6.6F) < 1e-6F);
    } else if (fault.way == "one filter zero") {
      EXPECT_EQ(std::ranges::count(after, 0.0F), 3);
    } else if (fault.way == "one element shifted") {
      EXPECT_EQ(changed, 1U);
    } else {
      EXPECT_EQ(fault.way, "input channels swapped");
      EXPECT_EQ(changed, 4U);
      EXPECT_EQ(after[0] + after[1] + after[2], 6);
    }
    // The original is gone, since nobody uses it.
    EXPECT_EQ(fault.model.graph.initializers.size(), 1U);
  }
  EXPECT_EQ(ways.size(), 5U);
}

TEST(PlantFaultTest, OthersKeepASharedConstant) {
  Small small;
  small.Constant("low", {}, {0});
  small.Constant("high", {}, {6});
  small.Add("Clip", {"x", "low", "high"}, "a");
  small.Add("Clip", {"a", "low", "high"}, "y");
  small.Output("y");
  const PlantedFault fault =
      PlantFault(small.model, FaultKind::kConstant, 1).value();
  ExpectOneChange(GraphLines(small.model.graph), fault);
  EXPECT_EQ(ConstantOf(fault.model, "low").As<float>()[0], 0);
  EXPECT_EQ(ConstantOf(fault.model, "high").As<float>()[0], 6);
}

TEST(PlantFaultTest, ConstantNodesAreConstants) {
  Small small;
  small.Add(
      "Constant", {}, "c",
      {{.name = "value",
        .value = Tensor::From<float>(DType::kFloat32, {}, std::vector<float>{2})
                     .value()}});
  small.Add("Mul", {"x", "c"}, "y");
  small.Output("y");
  const PlantedFault fault =
      PlantFault(small.model, FaultKind::kConstant, 0).value();
  EXPECT_EQ(fault.node, "/y");
  EXPECT_FLOAT_EQ(ConstantOf(fault.model, fault.model.graph.nodes[1].inputs[1])
                      .As<float>()[0],
                  2.02F);
  EXPECT_EQ(StructureProblems(fault.model), std::vector<std::string>{});
}

TEST(PlantFaultTest, OperatorsOfOtherNetworksHaveTheirFaults) {
  struct Case {
    std::string op;
    std::vector<Attribute> attributes;
    FaultKind kind;
    std::string way;
  };
  for (const Case& c :
       {Case{"Softmax", {}, FaultKind::kAttribute, "axis"},
        {"LeakyRelu", {}, FaultKind::kAttribute, "alpha"},
        {"Gelu", {}, FaultKind::kAttribute, "approximate"},
        {"DepthToSpace", {}, FaultKind::kAttribute, "mode"},
        {"AveragePool",
         {{.name = "pads", .value = std::vector<std::int64_t>{1, 1, 1, 1}}},
         FaultKind::kAttribute,
         "count_include_pad"},
        {"MaxPool",
         {{.name = "pads", .value = std::vector<std::int64_t>{1, 1, 0, 0}}},
         FaultKind::kPadding,
         "shift"},
        {"MaxPool",
         {{.name = "auto_pad", .value = std::string("SAME_UPPER")}},
         FaultKind::kPadding,
         "auto_pad"},
        {"Clip",
         {{.name = "max", .value = 6.0F}},
         FaultKind::kConstant,
         "clip bound"}}) {
    SCOPED_TRACE(c.op);
    Small small;
    small.Add(c.op, {"x"}, "y", c.attributes);
    small.Output("y");
    const Result<PlantedFault> fault = PlantFault(small.model, c.kind, 0);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->way, c.way);
    ExpectOneChange(GraphLines(small.model.graph), *fault);
  }
  for (const char* op : {"Sub", "Div", "Pow", "Greater", "Concat"}) {
    Small small;
    small.Add(op, {"x", "z"}, "y");
    small.Output("y");
    const Result<PlantedFault> fault =
        PlantFault(small.model, FaultKind::kWiring, 0);
    ASSERT_TRUE(fault.has_value()) << op;
    EXPECT_EQ(fault->model.graph.nodes[0].inputs,
              (std::vector<std::string>{"z", "x"}));
  }
}

TEST(PlantFaultTest, UnusedNodesAndShapesAreLeftAlone) {
  Small small;
  small.Constant("two", {}, {2});
  small.Add("Mul", {"x", "two"}, "unused");
  small.Add("Shape", {"x"}, "shape");
  small.Add("Cast", {"shape"}, "sizes",
            {{.name = "to", .value = std::int64_t{1}}});
  small.Add("Mul", {"sizes", "two"}, "doubled");
  small.Add("Cast", {"doubled"}, "whole",
            {{.name = "to", .value = std::int64_t{7}}});
  small.Add("Expand", {"x", "whole"}, "y");
  small.Output("y");
  EXPECT_FALSE(PlantFault(small.model, FaultKind::kConstant, 0).has_value());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(PlantFault(small.model, FaultKind::kDtype, seed).value().node,
              "/y");
  }
}

}  // namespace
}  // namespace parity
