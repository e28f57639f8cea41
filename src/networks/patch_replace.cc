#include "networks/patch_replace.h"

#include <array>
#include <cstdint>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_export_options.h"

namespace parity {
namespace {

// Channels of the canvas and side of a cell are both 4.
constexpr std::int64_t kFour = 4;

// A row of a patch is one run of the canvas seen as (N,4,H,W/4,4), so that
// nothing has to be moved: patch (b, i, j) has rows (b, c, 4i + r, j).
Value ByPatch(LayerGraph& graph, const Operators& ops, Value canvas,
              Value patches, Value grid, Value cells) {
  GraphBuilder& builder = graph.builder();
  const Value split = ops.Concat(
      {graph.batch(), builder.Integers(std::array<std::int64_t, 2>{kFour, -1}),
       ops.SliceVector(grid, 1, 2), builder.Integers({&kFour, 1})},
      0);
  std::vector<std::int64_t> offsets;
  for (std::int64_t channel = 0; channel < kFour; ++channel) {
    for (std::int64_t row = 0; row < kFour; ++row)
      offsets.insert(offsets.end(), {0, channel, row, 0});
  }
  const Value b0ij = ops.Mul(
      ops.Gather(cells,
                 builder.Integers(std::array<std::int64_t, 4>{0, 0, 1, 2}), 1),
      builder.Integers(std::array<std::int64_t, 4>{1, 0, kFour, 1}));
  const Value indices =
      ops.Add(ops.Reshape(b0ij, {0, 1, 1, 4}),
              builder.Integers(offsets, {1, kFour, kFour, 4}));
  const Value replaced =
      ops.ScatterND(ops.Reshape(canvas, split), indices, patches);
  return ops.Reshape(replaced, ops.Shape(canvas));
}

// The flat index of channel c, pixel (y, x) of image b is
// ((b·channels + c)·H + y)·W + x.
Value ByPixelIndex(LayerGraph& graph, const Operators& ops, Value canvas,
                   Value patches, Value full, Value cells) {
  GraphBuilder& builder = graph.builder();
  constexpr std::array<std::int64_t, 4> kCount = {0, 1, 2, 3};
  const Value four = builder.Integers({&kFour, 1});
  const Value width = ops.SliceVector(full, 1, 2);
  const Value plane = ops.Mul(ops.SliceVector(full, 0, 1), width);
  const Value strides =
      ops.Concat({ops.Mul(plane, four), ops.Mul(width, four), four}, 0);
  const Value first = ops.ReduceSum(ops.Mul(cells, strides), 1);  // P,1

  const Value rows = ops.Add(ops.Mul(builder.Integers(kCount, {4, 1}), width),
                             builder.Integers(kCount));  // 4,4
  const Value offsets =
      ops.Add(ops.Mul(builder.Integers(kCount, {4, 1, 1}), plane), rows);
  const Value indices =
      ops.Reshape(ops.Add(first, ops.Reshape(offsets, {-1})), {-1});
  const Value replaced = ops.ScatterElements(ops.Reshape(canvas, {-1}), indices,
                                             ops.Reshape(patches, {-1}), 0);
  return ops.Reshape(replaced, ops.Shape(canvas));
}

}  // namespace

Value ReplacePatches(LayerGraph& graph, ReplaceMethod method, Value canvas,
                     Value patches, Value full, Value grid, Value cells) {
  const Operators ops = graph.In("refiner.replace");
  if (method == ReplaceMethod::kScatterNd)
    return ByPatch(graph, ops, canvas, patches, grid, cells);
  return ByPixelIndex(graph, ops, canvas, patches, full, cells);
}

}  // namespace parity
