#include "diagnose/pinned_selections.h"

#include <gtest/gtest.h>

#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {
namespace {

TEST(PinnedSelectionsTest, SelectionNodesKeepTheirOrder) {
  Graph graph;
  for (const char* const op : {"Add", "TopK", "Relu", "Greater"}) {
    Node node;
    node.op_type = op;
    graph.nodes.push_back(node);
  }
  const auto nodes = SelectionNodes(graph);
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(nodes[0]->op_type, "TopK");
  EXPECT_EQ(nodes[1]->op_type, "Greater");
}

TEST(PinnedSelectionsTest, IndicesInAnotherOrderAreTheSameCells) {
  const NamedTensors expected = {{.name = "i", .tensor = Int64({3, 1, 2})}};
  EXPECT_EQ(
      DifferingCells(expected, {{.name = "i", .tensor = Int64({1, 2, 3})}}), 0);
  EXPECT_EQ(
      DifferingCells(expected, {{.name = "i", .tensor = Int64({1, 2, 4})}}), 1);
}

TEST(PinnedSelectionsTest, TheFirstSelectionThatDiffersCounts) {
  const NamedTensors expected = {{.name = "a", .tensor = Float32({1, 2})},
                                 {.name = "b", .tensor = Float32({1, 2, 3})}};
  const NamedTensors actual = {{.name = "other", .tensor = Float32({9})},
                               {.name = "a", .tensor = Float32({1, 2})},
                               {.name = "b", .tensor = Float32({0, 0, 3})}};
  EXPECT_EQ(DifferingCells(expected, actual), 2);
  EXPECT_EQ(DifferingCells(expected, {{.name = "a", .tensor = Float32({1})}}),
            0);
}

}  // namespace
}  // namespace parity
