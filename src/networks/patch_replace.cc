#include "networks/patch_replace.h"

#include <array>
#include <cstdint>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_export_options.h"

namespace parity {
namespace {

// Channels of the canvas and side of a cell are both 4.
constexpr std::int64_t kFour = 4;

// With the cells as the first axes, a patch is one contiguous block.
Value ByPatch(LayerGraph& graph, const Operators& ops, Value canvas,
              Value patches, Value grid, Value cells) {
  GraphBuilder& builder = graph.builder();
  const Value split = ops.Concat(
      {builder.Integers(std::array<std::int64_t, 2>{0, kFour}),
       ops.SliceVector(grid, 0, 1),
       builder.Integers(std::array<std::int64_t, 3>{kFour, -1, kFour})},
      0);
  Value by_cell = ops.Transpose(ops.Reshape(canvas, split),
                                {0, 2, 4, 1, 3, 5});  // N,row,column,4,4,4
  by_cell = ops.ScatterND(by_cell, cells, patches);
  return ops.Reshape(ops.Transpose(by_cell, {0, 3, 1, 4, 2, 5}),
                     ops.Shape(canvas));
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
