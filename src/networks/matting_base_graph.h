// The base network of BackgroundMattingV2 as a graph: encoder, ASPP, decoder.
#ifndef PARITY_NETWORKS_MATTING_BASE_GRAPH_H_
#define PARITY_NETWORKS_MATTING_BASE_GRAPH_H_

#include "graph/graph_builder.h"
#include "networks/layer_graph.h"
#include "networks/matting_config.h"

namespace parity {

// The four parts of the decoder's 37 channels.
struct BaseOutputs {
  Value pha;           // (N,1,H,W), clamped to [0, 1]
  Value fgr_residual;  // (N,3,H,W), to be added to src
  Value err;           // (N,1,H,W), clamped to [0, 1]
  Value hid;           // (N,32,H,W), ≥ 0
};

// `src_bgr` (N,6,H,W); `size` = (H,W), int64.
[[nodiscard]] BaseOutputs BaseNetwork(LayerGraph& graph, Backbone backbone,
                                      Value src_bgr, Value size);

}  // namespace parity

#endif  // PARITY_NETWORKS_MATTING_BASE_GRAPH_H_
