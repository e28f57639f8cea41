#include "networks/matting_refiner_graph.h"

#include <cstdint>
#include <format>
#include <vector>

#include "graph/graph_builder.h"
#include "graph/operators.h"
#include "networks/layer_graph.h"
#include "networks/matting_base_graph.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "networks/matting_layers.h"
#include "networks/patch_crop.h"
#include "networks/patch_replace.h"
#include "networks/patch_selection.h"

namespace parity {
namespace {

constexpr int kImageChannels = 6;    // src, bgr
constexpr int kCoarseChannels = 36;  // hid, pha, fgr residual

// A 3×3 convolution takes one pixel off every side, so two of them before and
// two after the doubling need 3 pixels more at half size and 2 at full size.
struct Margins {
  int half;
  int full;
};
Margins MarginsFor(int kernel_size) {
  return kernel_size == 3 ? Margins{.half = 3, .full = 2}
                          : Margins{.half = 0, .full = 0};
}

Value ConvBnRelu(LayerGraph& graph, int number, Value x, const Window& window,
                 int zero_channels) {
  x = graph.ConvBn(std::format("refiner.conv{}", number),
                   std::format("refiner.bn{}", number), x, window,
                   zero_channels);
  return graph.In("refiner.relu").Relu(x);
}

// What the layers take.
struct RefinerInputs {
  Value half;  // (M,42,h,w): the base network's outputs and the images
  int half_padding = 0;
  int half_zero_channels = 0;  // after the others
  Value full;  // (M,6,…): the images, twice the size of `half` after two layers
  int full_zero_channels = 0;  // after the others
};

// → (M,4,…) at full size.
Value RefineLayers(LayerGraph& graph, const RefinerInputs& in) {
  const Operators refiner = graph.In("refiner");
  Value x = ConvBnRelu(graph, 1, in.half, {.padding = in.half_padding},
                       in.half_zero_channels);
  x = ConvBnRelu(graph, 2, x, {}, 0);
  x = refiner.ResizeNearest2x(x);
  x = refiner.Concat({x, in.full}, 1);
  x = ConvBnRelu(graph, 3, x, {}, in.full_zero_channels);
  return graph.Conv("refiner.conv4", x);
}

// A map (N,1,H/4,W/4) of one value.
Value UniformRef(LayerGraph& graph, const MattingSizes& sizes, double value) {
  const Operators ops = graph.In("refiner.select");
  const std::int64_t one = 1;
  const Value shape = ops.Concat(
      {graph.batch(), graph.builder().Integers({&one, 1}), sizes.quarter}, 0);
  return ops.ConstantOfShape(shape, value, graph.dtype());
}

// (N,42,H/2,W/2): the base network's outputs and the images.
Value AtHalfSize(LayerGraph& graph, Value src_bgr, const BaseOutputs& base,
                 const MattingSizes& sizes) {
  const Operators refiner = graph.In("refiner");
  const Value coarse =
      refiner.Concat({base.hid, base.pha, base.fgr_residual}, 1);
  const Value x = graph.Up("refiner", coarse, kCoarseChannels, sizes.half);
  const Value y = graph.Up("refiner", src_bgr, kImageChannels, sizes.half);
  return refiner.Concat({x, y}, 1);
}

Value RefineEverywhere(LayerGraph& graph, const Margins& margins, Value half,
                       Value src_bgr) {
  return RefineLayers(
      graph, {.half = half,
              // The same as zeros around the input, without copying it.
              .half_padding = margins.half,
              .full = graph.In("refiner").PadImage(src_bgr, margins.full, 0)});
}

Value RefinePatches(LayerGraph& graph, const Margins& margins, CropMethod crop,
                    Value half, Value src_bgr, Value grid, Value cells) {
  PatchWindow half_window = {.channels = kCoarseChannels + kImageChannels,
                             .cell = kCellSize / 2,
                             .margin = margins.half};
  PatchWindow full_window = {
      .channels = kImageChannels, .cell = kCellSize, .margin = margins.full};
  // Where zeros are put around the image anyway, channels of zeros are free.
  if (margins.full > 0) {
    half_window.zero_channels =
        graph.ZeroChannels(kRefinerLayers[0].in_channels);
    full_window.zero_channels =
        graph.ZeroChannels(kRefinerLayers[2].in_channels);
  }
  return RefineLayers(
      graph, {.half = CropPatches(graph, crop, "refiner.crop_half", half,
                                  half_window, grid, cells),
              .half_zero_channels = half_window.zero_channels,
              .full = CropPatches(graph, crop, "refiner.crop_full", src_bgr,
                                  full_window, grid, cells),
              .full_zero_channels = full_window.zero_channels});
}

}  // namespace

RefinerOutputs Refiner(LayerGraph& graph, const MattingConfig& config,
                       const MattingExportOptions& options, Value src_bgr,
                       const BaseOutputs& base, const MattingSizes& sizes) {
  const Operators refiner = graph.In("refiner");
  const Margins margins = MarginsFor(config.refine_kernel_size);
  const auto split = [&](Value x, Value ref) -> RefinerOutputs {
    const std::vector<Value> parts = refiner.Split(x, {1, 3}, 1);
    return {.pha = parts[0], .fgr_residual = parts[1], .ref = ref};
  };

  if (config.refine_mode == RefineMode::kFull) {
    const Value half = AtHalfSize(graph, src_bgr, base, sizes);
    return split(RefineEverywhere(graph, margins, half, src_bgr),
                 UniformRef(graph, sizes, 1));
  }

  const Value canvas =
      graph.Up("refiner", refiner.Concat({base.pha, base.fgr_residual}, 1), 4,
               sizes.full);
  if (config.refine_mode == RefineMode::kSampling && SampledCells(config) == 0)
    return split(canvas, UniformRef(graph, sizes, 0));

  const Value marked = MarkCells(graph, config, base.err, sizes.quarter);
  const Value cells = ListCells(graph, marked);
  const Value half = AtHalfSize(graph, src_bgr, base, sizes);
  const Value patches = RefinePatches(graph, margins, options.crop, half,
                                      src_bgr, sizes.quarter, cells);
  return split(ReplacePatches(graph, options.replace, canvas, patches,
                              sizes.full, sizes.quarter, cells),
               graph.In("refiner.select").Cast(marked, graph.dtype()));
}

}  // namespace parity
