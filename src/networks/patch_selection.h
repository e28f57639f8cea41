// The first step of the refiner: which 4×4 cells of the image are computed
// again at full resolution.
#ifndef PARITY_NETWORKS_PATCH_SELECTION_H_
#define PARITY_NETWORKS_PATCH_SELECTION_H_

#include <cstdint>

#include "graph/graph_builder.h"
#include "networks/layer_graph.h"
#include "networks/matting_config.h"

namespace parity {

// Side of a cell, in pixels of the full image.
inline constexpr int kCellSize = 4;

// The cells sampling mode marks in an image: sample_pixels in whole cells.
[[nodiscard]] constexpr std::int64_t SampledCells(const MattingConfig& config) {
  return config.refine_sample_pixels / kCellSize / kCellSize;
}

// True for marked cells (N,1,H/4,W/4), of `err` (N,1,h,w). `quarter` is
// (H/4,W/4), int64. Decided in float32 whatever the precision.
//   sampling:     per image the min(SampledCells, cells) largest of err,
//                 without those ≤ 0 when preventing oversampling;
//                 SampledCells must not be 0
//   thresholding: err > threshold
[[nodiscard]] Value MarkCells(LayerGraph& graph, const MattingConfig& config,
                              Value err, Value quarter);

// The marked cells (P,3) int64: image, row, column. P may be 0.
[[nodiscard]] Value ListCells(LayerGraph& graph, Value marked);

}  // namespace parity

#endif  // PARITY_NETWORKS_PATCH_SELECTION_H_
