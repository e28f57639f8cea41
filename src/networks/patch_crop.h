// Cuts the surroundings of marked cells out of an image, three ways that give
// the same numbers.
#ifndef PARITY_NETWORKS_PATCH_CROP_H_
#define PARITY_NETWORKS_PATCH_CROP_H_

#include <string>

#include "graph/graph_builder.h"
#include "networks/layer_graph.h"
#include "networks/matting_export_options.h"

namespace parity {

// A cell has cell×cell pixels of the image; a patch has `margin` pixels more on
// every side. 2·margin must be a multiple of cell.
struct PatchWindow {
  int channels;           // of the image
  int zero_channels = 0;  // appended to them
  int cell;
  int margin;
  [[nodiscard]] int size() const { return cell + 2 * margin; }
};

// `image` (N,channels,cell·rows,cell·columns), zero outside; `grid` =
// (rows,columns), int64; `cells` (P,3) int64: image, row, column. Returns
// (P,channels+zero_channels,size,size). Nodes are named after `module`.
[[nodiscard]] Value CropPatches(LayerGraph& graph, CropMethod method,
                                const std::string& module, Value image,
                                const PatchWindow& window, Value grid,
                                Value cells);

}  // namespace parity

#endif  // PARITY_NETWORKS_PATCH_CROP_H_
