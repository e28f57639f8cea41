// The refiner of BackgroundMattingV2 as a graph.
#ifndef PARITY_NETWORKS_MATTING_REFINER_GRAPH_H_
#define PARITY_NETWORKS_MATTING_REFINER_GRAPH_H_

#include "graph/graph_builder.h"
#include "networks/layer_graph.h"
#include "networks/matting_base_graph.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"

namespace parity {

// Sizes known only when the graph runs: (height, width), int64.
struct MattingSizes {
  Value full;
  Value half;
  Value quarter;
  Value coarse;  // what the base network works at
};

struct RefinerOutputs {
  Value pha;           // (N,1,H,W), not clamped
  Value fgr_residual;  // (N,3,H,W)
  Value ref;           // (N,1,H/4,W/4): 1 where refined, else 0
};

// `src_bgr` (N,6,H,W); `base` at the coarse size.
[[nodiscard]] RefinerOutputs Refiner(LayerGraph& graph,
                                     const MattingConfig& config,
                                     const MattingExportOptions& options,
                                     Value src_bgr, const BaseOutputs& base,
                                     const MattingSizes& sizes);

}  // namespace parity

#endif  // PARITY_NETWORKS_MATTING_REFINER_GRAPH_H_
