// Puts refined patches in the place of their cells, two ways that give the same
// numbers.
#ifndef PARITY_NETWORKS_PATCH_REPLACE_H_
#define PARITY_NETWORKS_PATCH_REPLACE_H_

#include "graph/graph_builder.h"
#include "networks/layer_graph.h"
#include "networks/matting_export_options.h"

namespace parity {

// `canvas` (N,4,H,W); `patches` (P,4,4,4), one 4×4 cell of four channels each;
// `full` = (H,W) and `grid` = (H/4,W/4), int64; `cells` (P,3) int64: image,
// row, column. Nodes are named after "refiner.replace".
[[nodiscard]] Value ReplacePatches(LayerGraph& graph, ReplaceMethod method,
                                   Value canvas, Value patches, Value full,
                                   Value grid, Value cells);

}  // namespace parity

#endif  // PARITY_NETWORKS_PATCH_REPLACE_H_
