#include "networks/matting_refiner_graph.h"

#include <cassert>
#include <cstdint>
#include <format>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/half.h"
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
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

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

Value ConvBnRelu(LayerGraph& graph, int number, Value x,
                 const Window& window = {}) {
  x = graph.ConvBn(std::format("refiner.conv{}", number),
                   std::format("refiner.bn{}", number), x, window);
  return graph.In("refiner.relu").Relu(x);
}

// (M,42,h,w) at half size and (M,6,…) at full size → (M,4,…) at full size.
// `padding` belongs to the first convolution.
Value RefineLayers(LayerGraph& graph, Value x, Value src_bgr, int padding) {
  const Operators refiner = graph.In("refiner");
  x = ConvBnRelu(graph, 1, x, {.padding = padding});
  x = ConvBnRelu(graph, 2, x);
  x = refiner.ResizeNearest2x(x);
  x = refiner.Concat({x, src_bgr}, 1);
  x = ConvBnRelu(graph, 3, x);
  return graph.Conv("refiner.conv4", x);
}

// `count` values of the network's dtype, all 0 or all 1, as ConstantOfShape
// wants its value.
Tensor One(DType dtype, float value) {
  const std::uint16_t half = HalfFromFloat(value);
  Result<Tensor> tensor =
      dtype == DType::kFloat16
          ? Tensor::From(dtype, {1}, std::span<const std::uint16_t>(&half, 1))
          : Tensor::From(dtype, {1}, std::span<const float>(&value, 1));
  assert(tensor.has_value());
  return *std::move(tensor);
}

// A map (N,1,H/4,W/4) of one value.
Value UniformRef(LayerGraph& graph, const MattingSizes& sizes, float value) {
  const Operators ops = graph.In("refiner.select");
  const std::int64_t one = 1;
  const Value shape = ops.Concat(
      {graph.batch(), graph.builder().Integers({&one, 1}), sizes.quarter}, 0);
  return ops.ConstantOfShape(shape, One(graph.dtype(), value));
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
  // Of the base network's outputs and the input, at half size.
  const auto half_size = [&] {
    const Value x = refiner.Concat({base.hid, base.pha, base.fgr_residual}, 1);
    return refiner.Concat(
        {graph.Up("refiner", x, kCoarseChannels, sizes.half),
         graph.Up("refiner", src_bgr, kImageChannels, sizes.half)},
        1);
  };

  if (config.refine_mode == RefineMode::kFull) {
    const Value ref = UniformRef(graph, sizes, 1);
    const Value image =
        margins.full > 0 ? refiner.PadImage(src_bgr, margins.full) : src_bgr;
    // Zeros around the first convolution's input are its padding.
    return split(RefineLayers(graph, half_size(), image, margins.half), ref);
  }

  const Value canvas =
      graph.Up("refiner", refiner.Concat({base.pha, base.fgr_residual}, 1), 4,
               sizes.full);
  if (config.refine_mode == RefineMode::kSampling && SampledCells(config) == 0)
    return split(canvas, UniformRef(graph, sizes, 0));

  const Value marked = MarkCells(graph, config, base.err, sizes.quarter);
  const Value ref = graph.In("refiner.select").Cast(marked, graph.dtype());
  const Value cells = ListCells(graph, marked);
  const Value x =
      CropPatches(graph, options.crop, "refiner.crop_half", half_size(),
                  {.channels = kCoarseChannels + kImageChannels,
                   .cell = kCellSize / 2,
                   .margin = margins.half},
                  sizes.quarter, cells);
  const Value image = CropPatches(
      graph, options.crop, "refiner.crop_full", src_bgr,
      {.channels = kImageChannels, .cell = kCellSize, .margin = margins.full},
      sizes.quarter, cells);
  const Value patches = RefineLayers(graph, x, image, 0);
  return split(ReplacePatches(graph, options.replace, canvas, patches,
                              sizes.full, sizes.quarter, cells),
               ref);
}

}  // namespace parity
