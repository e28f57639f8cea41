#include "graph/operators.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/model.h"
#include "parity/dtype.h"

namespace parity {
namespace {

// The nodes `build` adds for operator set `version`.
template <class Build>
std::vector<Node> NodesAt(int version, Build build) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  build(Operators(builder, version, "m"), x);
  return std::move(builder).Take().nodes;
}

TEST(OperatorsTest, AxesBecomeInputsAtVersion13) {
  const auto squeeze = [](const Operators& ops, Value x) {
    (void)ops.Squeeze(x, 1);
    (void)ops.ReduceSum(x, 1);
    (void)ops.Split(x, {1, 3}, 1);
  };
  for (const Node& node : NodesAt(12, squeeze))
    EXPECT_EQ(node.inputs.size(), 1U) << node.op_type;
  for (const Node& node : NodesAt(13, squeeze)) {
    EXPECT_EQ(node.inputs.size(), 2U) << node.op_type;
    EXPECT_EQ(node.FindAttribute("axes"), nullptr) << node.op_type;
    EXPECT_EQ(node.FindAttribute("split"), nullptr) << node.op_type;
  }
}

TEST(OperatorsTest, ResizeHasEmptyTensorsBeforeVersion13AndNothingAfter) {
  const auto resize = [](const Operators& ops, Value x) {
    (void)ops.ResizeBilinear(x, x);
    (void)ops.ResizeNearest2x(x);
  };
  for (const Node& node : NodesAt(11, resize)) {
    for (const std::string& input : node.inputs) EXPECT_NE(input, "");
  }
  const std::vector<Node> nodes = NodesAt(13, resize);
  EXPECT_EQ(nodes[0].inputs, (std::vector<std::string>{"x", "", "", "x"}));
  EXPECT_EQ(nodes[1].inputs[1], "");
}

TEST(OperatorsTest, RoiAlignKeepsItsMeaningAcrossVersion16) {
  const auto align = [](const Operators& ops, Value x) {
    (void)ops.RoiAlign(x, x, x, 8);
  };
  // Before, there was no such attribute and this was the only behaviour.
  EXPECT_EQ(
      NodesAt(15, align)[0].FindAttribute("coordinate_transformation_mode"),
      nullptr);
  const std::vector<Node> nodes = NodesAt(16, align);
  const AttributeValue* mode =
      nodes[0].FindAttribute("coordinate_transformation_mode");
  ASSERT_NE(mode, nullptr);
  EXPECT_EQ(std::get<std::string>(*mode), "output_half_pixel");
}

TEST(OperatorsTest, IntegersHaveNoMinBeforeVersion12) {
  const auto min = [](const Operators& ops, Value x) {
    (void)ops.MinInteger(x, x);
  };
  EXPECT_EQ(NodesAt(11, min).back().op_type, "Where");
  EXPECT_EQ(NodesAt(12, min).back().op_type, "Min");
}

TEST(OperatorsTest, NothingToPadAddsNoNode) {
  EXPECT_TRUE(NodesAt(17, [](const Operators& ops, Value x) {
                EXPECT_EQ(ops.PadImage(x, 0, 0).id, x.id);
              }).empty());
}

TEST(OperatorsTest, PadsAreBeginningsThenEnds) {
  GraphBuilder builder("g");
  const Value x = builder.Input("x", DType::kFloat32, {});
  (void)Operators(builder, 17, "m").PadImage(x, 3, 2);
  const Graph graph = std::move(builder).Take();
  const auto pads = graph.initializers.at(0).tensor.As<std::int64_t>();
  EXPECT_EQ(std::vector<std::int64_t>(pads.begin(), pads.end()),
            (std::vector<std::int64_t>{0, 0, 3, 3, 0, 2, 3, 3}));
}

}  // namespace
}  // namespace parity
