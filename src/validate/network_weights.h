// The weights of the built-in network: from a checkpoint, or synthetic.
#ifndef PARITY_VALIDATE_NETWORK_WEIGHTS_H_
#define PARITY_VALIDATE_NETWORK_WEIGHTS_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct NetworkWeightsOptions {
  MattingConfig config;
  std::filesystem::path checkpoint;  // empty = synthetic weights
  std::uint64_t synthetic_seed = 0;
  // See networks/weights_check.h.
  bool allow_missing_keys = false;
};

struct NetworkWeights {
  NamedTensors
      tensors;  // exactly the entries of ParameterTable(config), in its order
  std::string source;  // "checkpoint.pth", "synthetic seed 0"
  std::vector<std::string> notes;
};

[[nodiscard]] Result<NetworkWeights> LoadNetworkWeights(
    const NetworkWeightsOptions& options);

}  // namespace parity

#endif  // PARITY_VALIDATE_NETWORK_WEIGHTS_H_
