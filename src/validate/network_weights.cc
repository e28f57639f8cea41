#include "validate/network_weights.h"

#include <format>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/torch_checkpoint/torch_checkpoint_reader.h"
#include "networks/synthetic_weights.h"
#include "networks/weights_check.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// The entries of `found` that the network has, and synthetic ones for those it lacks; notes say which.
Result<NetworkWeights> FillMissing(const NetworkWeightsOptions& options, const NamedTensors& found) {
  PARITY_ASSIGN_OR_RETURN(NamedTensors complete, SyntheticWeights(options.config, options.synthetic_seed));
  NetworkWeights weights;
  std::size_t missing = 0;
  for (NamedTensor& entry : complete) {
    if (const Tensor* const tensor = FindTensor(found, entry.name)) {
      entry.tensor = *tensor;
    } else {
      if (missing == 0) weights.notes.push_back(std::format("the checkpoint lacks {}", entry.name));
      ++missing;
    }
  }
  if (missing > 0) {
    weights.notes.back() += missing > 1 ? std::format(" and {} more keys; synthetic values stand in for them", missing - 1)
                                        : "; synthetic values stand in for it";
  }
  weights.tensors = std::move(complete);
  return weights;
}

}  // namespace

Result<NetworkWeights> LoadNetworkWeights(const NetworkWeightsOptions& options) {
  if (options.checkpoint.empty()) {
    NetworkWeights weights;
    PARITY_ASSIGN_OR_RETURN(weights.tensors, SyntheticWeights(options.config, options.synthetic_seed));
    weights.source = std::format("synthetic seed {}", options.synthetic_seed);
    return weights;
  }
  PARITY_ASSIGN_OR_RETURN(Checkpoint checkpoint, ReadCheckpoint(options.checkpoint));
  NetworkWeights weights;
  if (options.allow_missing_keys) {
    PARITY_ASSIGN_OR_RETURN(weights, FillMissing(options, checkpoint.tensors));
  } else {
    weights.tensors = std::move(checkpoint.tensors);
  }
  if (Status checked = CheckWeights(options.config, weights.tensors, AllowMissing::kNo); !checked) {
    return std::unexpected(std::move(checked).error().In(options.checkpoint.string()));
  }
  weights.notes.insert(weights.notes.begin(), checkpoint.notes.begin(), checkpoint.notes.end());
  weights.source = options.checkpoint.filename().string();
  return weights;
}

}  // namespace parity
