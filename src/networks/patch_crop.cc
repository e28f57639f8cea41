#include "networks/patch_crop.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_export_options.h"
#include "parity/dtype.h"

namespace parity {
namespace {

struct Crop {
  LayerGraph* graph;
  Operators ops;
  PatchWindow window;
  Value padded;  // the image with its margin and zero channels
  Value grid;
  Value cells;

  [[nodiscard]] Value Integer(std::int64_t value) const {
    return graph->builder().Integers({&value, 1});
  }
};

// The image with its channels last, (N,height,width,C).
Value ChannelsLast(const Crop& crop) {
  return crop.ops.Transpose(crop.padded, {0, 2, 3, 1});
}

// (P,size,size,C), however its axes are split → (P,C,size,size).
Value ChannelsFirst(const Crop& crop, Value patches) {
  const std::int64_t channels =
      crop.window.channels + crop.window.zero_channels;
  const std::int64_t size = crop.window.size();
  const Value pixels = crop.ops.Reshape(patches, {0, size * size, channels});
  return crop.ops.Reshape(crop.ops.Transpose(pixels, {0, 2, 1}),
                          {0, channels, size, size});
}

// A row of a window is n runs of `cell` pixels that start at whole cells. With
// the channels last a run is one contiguous block, so a window is size·n
// look-ups; windows nobody marked are never made.
Value Unfold(const Crop& crop) {
  const Operators& ops = crop.ops;
  GraphBuilder& builder = crop.graph->builder();
  const auto [image_channels, zero_channels, cell, margin] = crop.window;
  const std::int64_t channels = image_channels + zero_channels;
  const std::int64_t size = crop.window.size();
  const std::int64_t n = size / cell;
  const Value columns = ops.Add(ops.SliceVector(crop.grid, 1, 2),
                                crop.Integer(2 * margin / cell));
  const Value split = ops.Concat({crop.graph->batch(), crop.Integer(-1),
                                  columns, crop.Integer(cell * channels)},
                                 0);
  const Value runs = ops.Reshape(ChannelsLast(crop), split);

  std::vector<std::int64_t> offsets;
  for (std::int64_t y = 0; y < size; ++y) {
    for (std::int64_t column = 0; column < n; ++column)
      offsets.insert(offsets.end(), {0, y, column});
  }
  const Value corner = ops.Mul(
      crop.cells, builder.Integers(std::array<std::int64_t, 3>{1, cell, 1}));
  const Value indices = ops.Add(ops.Reshape(corner, {0, 1, 1, 3}),
                                builder.Integers(offsets, {1, size, n, 3}));
  return ChannelsFirst(crop, ops.GatherND(runs, indices));
}

// Boxes of whole pixels: a sample falls on the centre of each pixel, so that
// its bilinear weights are 1, 0, 0, 0.
Value ByRoiAlign(const Crop& crop) {
  const Operators& ops = crop.ops;
  GraphBuilder& builder = crop.graph->builder();
  const auto size = static_cast<float>(crop.window.size());
  const Value xyxy = ops.Gather(
      crop.cells, builder.Integers(std::array<std::int64_t, 4>{2, 1, 2, 1}), 1);
  const Value corner =
      ops.Cast(ops.Mul(xyxy, crop.Integer(crop.window.cell)), DType::kFloat32);
  const Value boxes = ops.Add(
      corner,
      builder.Floats(std::array{-0.5F, -0.5F, size - 0.5F, size - 0.5F}));
  const Value batch = ops.Gather(
      crop.cells, builder.Integers(std::array<std::int64_t, 1>{0}, {}), 1);
  // Box coordinates share the image's type, and float16 ends at 2048.
  const Value patches = ops.RoiAlign(crop.graph->ToFloat32(ops, crop.padded),
                                     boxes, batch, crop.window.size());
  return crop.graph->FromFloat32(ops, patches);
}

// Pixels become rows of their channels; the row of pixel (y, x) of image b is
// (b·height + y)·width + x, whatever the number of channels.
Value ByPixelIndex(const Crop& crop) {
  const Operators& ops = crop.ops;
  GraphBuilder& builder = crop.graph->builder();
  const auto [image_channels, zero_channels, cell, margin] = crop.window;
  const std::int64_t channels = image_channels + zero_channels;
  const std::int64_t size = crop.window.size();
  const Value pixels = ops.Reshape(ChannelsLast(crop), {-1, channels});

  const Value padded_size = ops.Add(ops.Mul(crop.grid, crop.Integer(cell)),
                                    crop.Integer(std::int64_t{2} * margin));
  const Value height = ops.SliceVector(padded_size, 0, 1);
  const Value width = ops.SliceVector(padded_size, 1, 2);
  const Value strides =
      ops.Concat({ops.Mul(height, width), ops.Mul(width, crop.Integer(cell)),
                  crop.Integer(cell)},
                 0);
  const Value first = ops.ReduceSum(ops.Mul(crop.cells, strides), 1);  // P,1

  std::vector<std::int64_t> count(static_cast<std::size_t>(size));
  std::iota(count.begin(), count.end(), 0);
  const Value offsets =
      ops.Add(ops.Mul(builder.Integers(count, {size, 1}), width),
              builder.Integers(count));  // size,size
  const Value indices = ops.Add(first, ops.Reshape(offsets, {-1}));
  return ChannelsFirst(crop, ops.Gather(pixels, indices, 0));
}

}  // namespace

Value CropPatches(LayerGraph& graph, CropMethod method,
                  const std::string& module, Value image,
                  const PatchWindow& window, Value grid, Value cells) {
  const Operators ops = graph.In(module);
  const Crop crop = {
      .graph = &graph,
      .ops = ops,
      .window = window,
      .padded = ops.PadImage(image, window.margin, window.zero_channels),
      .grid = grid,
      .cells = cells};
  switch (method) {
    case CropMethod::kUnfold:
      return Unfold(crop);
    case CropMethod::kRoiAlign:
      return ByRoiAlign(crop);
    case CropMethod::kGather:
      return ByPixelIndex(crop);
  }
  return image;
}

}  // namespace parity
