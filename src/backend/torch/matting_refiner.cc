// The refiner sees two frames of the image: one at half size (hidden features,
// coarse result, src, bgr: 42 channels) and one at full size (src, bgr: 6
// channels), both with a margin of zeros that the four unpadded convolutions
// use up. A crop of the first and the crop of the second that shows the same
// place give one piece of the result: a cell of 4×4 pixels in the sparse modes,
// a band of rows in the full mode. Cells and bands are taken a few at a time,
// so that memory stays small and in the cache.
#include "backend/torch/matting_refiner.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "backend/torch/layers.h"
#include "backend/torch/run_trace.h"
#include "backend/torch/task_runner.h"
#include "networks/matting_config.h"

namespace parity {
namespace {

constexpr std::int64_t kCell = 4;           // side of a cell, in pixels
constexpr std::int64_t kCellsAtOnce = 128;  // patches per call
constexpr std::int64_t kBandRows = 16;      // a multiple of kCell

// What the convolutions take off on every side of a crop.
struct Margins {
  std::int64_t half;
  std::int64_t full;
};
Margins MarginsOf(const MattingConfig& config) {
  return config.refine_kernel_size == 3 ? Margins{.half = 3, .full = 2}
                                        : Margins{.half = 0, .full = 0};
}

struct Frames {
  at::Tensor half;  // [B,42,H/2+2·margin,W/2+2·margin]
  at::Tensor full;  // [B,6,H+2·margin,W+2·margin]
};

at::Tensor Inner(const at::Tensor& frame, std::int64_t margin) {
  return frame.narrow(2, margin, frame.size(2) - 2 * margin)
      .narrow(3, margin, frame.size(3) - 2 * margin);
}

// Calls `refine(start, count)` on pieces of [0, total). In a traced run there
// is one, so that each layer gives one value.
void ForEachPiece(
    const TaskRunner& runner, std::int64_t total, std::int64_t size,
    const std::function<void(std::int64_t, std::int64_t)>& refine) {
  if (IsTracing()) size = std::max<std::int64_t>(total, 1);
  runner.ForEach((total + size - 1) / size, [&](std::int64_t i) {
    refine(i * size, std::min(size, total - i * size));
  });
}

// Fills channels [first, …) of `half` with the resized `part`, a few at a time:
// the resized copy stays small.
void ResizeInto(const TaskRunner& runner, const at::Tensor& half,
                std::int64_t first, const at::Tensor& part) {
  constexpr std::int64_t kChannels = 4;
  ForEachPiece(runner, part.size(1), kChannels,
               [&](std::int64_t channel, std::int64_t count) {
                 half.narrow(1, first + channel, count)
                     .copy_(ResizeLike(part.narrow(1, channel, count), half));
               });
}

// Parts of the frames that the published network joins before it resizes them:
// a trace of it has them.
void TraceParts(const CoarseMatte& coarse, const at::Tensor& half) {
  if (!IsTracing()) return;
  (void)at::cat({coarse.hidden, coarse.alpha, coarse.foreground}, 1);
  constexpr std::int64_t kImageChannels = 6;
  const std::int64_t coarse_channels = half.size(1) - kImageChannels;
  for (const at::Tensor& part :
       {half.narrow(1, 0, coarse_channels),
        half.narrow(1, coarse_channels, kImageChannels)})
    TraceValue("aten::upsample_bilinear2d", part);
}

Frames MakeFrames(const TaskRunner& runner, const Margins& margins,
                  const at::Tensor& src, const at::Tensor& bgr,
                  const CoarseMatte& coarse) {
  const std::int64_t batch = src.size(0);
  const std::int64_t height = src.size(2);
  const std::int64_t width = src.size(3);
  Frames frames;
  frames.full =
      at::zeros({batch, 6, height + 2 * margins.full, width + 2 * margins.full},
                src.options());
  const at::Tensor full = Inner(frames.full, margins.full);
  full.narrow(1, 0, 3).copy_(src);
  full.narrow(1, 3, 3).copy_(bgr);

  frames.half = at::zeros(
      {batch, 42, height / 2 + 2 * margins.half, width / 2 + 2 * margins.half},
      src.options());
  const at::Tensor half = Inner(frames.half, margins.half);
  std::int64_t channel = 0;
  for (const at::Tensor& part :
       {coarse.hidden, coarse.alpha, coarse.foreground, src, bgr}) {
    ResizeInto(runner, half, channel, part);
    channel += part.size(1);
  }
  TraceParts(coarse, half);
  // Filled in place, they are values of no operator.
  for (const at::Tensor& value : {full, frames.full, half, frames.half})
    TraceValue("aten::cat", value);
  return frames;
}

// [n,42,h,w] and the same place at full size [n,6,H,W] → [n,4,…].
at::Tensor RefineCrops(const Layers& layers, const at::Tensor& half,
                       const at::Tensor& full) {
  at::Tensor x =
      layers.ConvBn(half, "refiner.conv1", "refiner.bn1", Activation::kRelu);
  x = layers.ConvBn(x, "refiner.conv2", "refiner.bn2", Activation::kRelu);
  x = at::upsample_nearest2d(x, {full.size(2), full.size(3)});
  x = at::cat({x, full}, 1);
  x = layers.ConvBn(x, "refiner.conv3", "refiner.bn3", Activation::kRelu);
  return layers.ConvWithBias(x, "refiner.conv4");
}

// Zeros and ones, [B,1,H/4,W/4].
at::Tensor SelectCells(const MattingConfig& config, const at::Tensor& error) {
  if (config.refine_mode == RefineMode::kThresholding)
    return error.gt(config.refine_threshold).to(error.scalar_type());
  const std::int64_t cells = error.size(2) * error.size(3);
  // The published network raises an error where there are fewer cells.
  const std::int64_t count = std::min(config.refine_sample_pixels / 16, cells);
  const at::Tensor flat = error.reshape({error.size(0), cells});
  const at::Tensor largest = std::get<1>(
      at::topk(flat, count, /*dim=*/1, /*largest=*/true, /*sorted=*/false));
  at::Tensor marked = at::zeros({error.size(0), cells}, error.options());
  marked.scatter_(1, largest, 1.0);
  if (config.refine_prevent_oversampling)
    marked.mul_(flat.gt(0).to(error.scalar_type()));
  return marked.view(error.sizes());
}

// A view [B,H/4,W/4,C,size,size] of the crop around every cell.
at::Tensor CropsOfCells(const at::Tensor& frame, std::int64_t size,
                        std::int64_t step) {
  return frame.unfold(2, size, step)
      .unfold(3, size, step)
      .permute({0, 2, 3, 1, 4, 5});
}

void RefineCells(const Layers& layers, const Margins& margins,
                 const Frames& frames, const at::Tensor& cells,
                 const at::Tensor& canvas) {
  const at::Tensor half =
      CropsOfCells(frames.half, kCell / 2 + 2 * margins.half, kCell / 2);
  const at::Tensor full =
      CropsOfCells(frames.full, kCell + 2 * margins.full, kCell);
  const at::Tensor patches = CropsOfCells(canvas, kCell, kCell);
  const at::Tensor marked = cells.squeeze(1).nonzero();
  ForEachPiece(layers.runner(), marked.size(0), kCellsAtOnce,
               [&](std::int64_t start, std::int64_t count) {
                 const at::Tensor some = marked.narrow(0, start, count);
                 const c10::List<std::optional<at::Tensor>> where(
                     {some.select(1, 0), some.select(1, 1), some.select(1, 2)});
                 patches.index_put_(
                     where,
                     RefineCrops(layers, half.index(where), full.index(where)));
               });
}

void RefineBands(const Layers& layers, const Margins& margins,
                 const Frames& frames, const at::Tensor& canvas) {
  ForEachPiece(
      layers.runner(), canvas.size(2), kBandRows,
      [&](std::int64_t row, std::int64_t rows) {
        canvas.narrow(2, row, rows)
            .copy_(RefineCrops(
                layers,
                frames.half.narrow(2, row / 2, rows / 2 + 2 * margins.half),
                frames.full.narrow(2, row, rows + 2 * margins.full)));
      });
}

}  // namespace

RefinedMatte RunMattingRefiner(const Layers& layers,
                               const MattingConfig& config,
                               const at::Tensor& src, const at::Tensor& bgr,
                               CoarseMatte coarse) {
  const ModuleScope scope("refiner");
  const std::int64_t height = src.size(2);
  const std::int64_t width = src.size(3);
  const Margins margins = MarginsOf(config);
  const Frames frames = MakeFrames(layers.runner(), margins, src, bgr, coarse);
  coarse.hidden.reset();
  RefinedMatte result;
  if (config.refine_mode == RefineMode::kFull) {
    result.cells = at::ones({src.size(0), 1, height / kCell, width / kCell},
                            src.options());
    result.canvas = at::empty({src.size(0), 4, height, width}, src.options());
    RefineBands(layers, margins, frames, result.canvas);
    return result;
  }
  result.cells =
      SelectCells(config, Resize(coarse.error, height / kCell, width / kCell));
  result.canvas =
      Resize(at::cat({coarse.alpha, coarse.foreground}, 1), height, width);
  RefineCells(layers, margins, frames, result.cells, result.canvas);
  return result;
}

}  // namespace parity
