#include "validate/network_weights.h"

#include <expected>
#include <format>
#include <utility>

#include "base/status_macros.h"
#include "formats/torch_checkpoint/checkpoint_reader.h"
#include "networks/synthetic_weights.h"
#include "networks/weights_check.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

Result<NetworkWeights> LoadNetworkWeights(
    const NetworkWeightsOptions& options) {
  NetworkWeights weights;
  if (options.checkpoint.empty()) {
    PARITY_ASSIGN_OR_RETURN(
        weights.tensors,
        SyntheticWeights(options.config, options.synthetic_seed));
    weights.source = std::format("synthetic seed {}", options.synthetic_seed);
    return weights;
  }
  PARITY_ASSIGN_OR_RETURN(Checkpoint checkpoint,
                          ReadCheckpoint(options.checkpoint));
  auto checked = CheckWeights(options.config, checkpoint.tensors,
                              options.allow_missing_keys);
  if (!checked)
    return std::unexpected(
        std::move(checked).error().In(options.checkpoint.string()));
  weights.tensors = std::move(checked->weights);
  weights.source = options.checkpoint.filename().string();
  weights.notes = std::move(checkpoint.notes);
  weights.notes.insert(weights.notes.end(), checked->notes.begin(),
                       checked->notes.end());
  return weights;
}

}  // namespace parity
