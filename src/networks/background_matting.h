// BackgroundMattingV2 as an ONNX model, built straight from its definition.
#ifndef PARITY_NETWORKS_BACKGROUND_MATTING_H_
#define PARITY_NETWORKS_BACKGROUND_MATTING_H_

#include <string>
#include <vector>

#include "graph/model.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct MattingExport {
  Model model;
  // Lines for the user, e.g. "aspp.project.0.weight: 3 values overflow float16,
  // 17 vanish".
  std::vector<std::string> notes;
};

// The network with `weights`, a state_dict of exactly the keys of
// ParameterTable(); see weights_check.h. Weights that are kept as they are
// share their bytes.
//
// Inputs src and bgr (batch,3,height,width), RGB in [0,1]; outputs as
// OutputNames() lists them, in the precision of the options. Nothing of a size
// is fixed: the model takes any batch ≥ 1; MattingRefine any height and width
// divisible by 4 whose coarse size is not 0. In sampling mode an image of fewer
// than sample_pixels/16 cells has all of them marked.
//
// Values are named after the module that computes them (graph_builder.h); the
// refiner's own steps are "refiner.select", "refiner.crop_half",
// "refiner.crop_full" and "refiner.replace". A folded convolution's value has
// the name of its batch normalisation.
//
// Errors: kInvalidArgument for a configuration or option out of range, and
// those of CheckWeights().
[[nodiscard]] Result<MattingExport> BuildBackgroundMatting(
    const MattingConfig& config, const NamedTensors& weights,
    const MattingExportOptions& options);

}  // namespace parity

#endif  // PARITY_NETWORKS_BACKGROUND_MATTING_H_
