// Deterministic weights that stand in for a trained checkpoint: every output
// spreads over its range, so a wrong layer shows.
#ifndef PARITY_NETWORKS_SYNTHETIC_WEIGHTS_H_
#define PARITY_NETWORKS_SYNTHETIC_WEIGHTS_H_

#include <cstdint>
#include <string>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// The whole state_dict of `config`, the same bits on every machine. Element i
// of a parameter is computed in double from the stream SplitMixStream(name,
// seed) and rounded once to float32:
//   convolution weights  (2u − 1)·sqrt(6 / fan_in), ×0.15 for decoder.conv4 and
//   refiner.conv4 backbone …bn3.weight 0.2 + 0.1u (the end of a ResNet branch)
//   other bn weights and running variances 0.75 + 0.5u
//   biases and running means 0.1·(2u − 1); the head biases start at 0.5 (pha),
//   0 (fgr), 0.4 (err) num_batches_tracked 1
[[nodiscard]] Result<NamedTensors> SyntheticWeights(const MattingConfig& config,
                                                    std::uint64_t seed);

// SHA-256 over name, dtype, shape and bytes of every entry, in name order:
// equal for equal state_dicts, whatever file they came from.
[[nodiscard]] std::string WeightsDigest(const NamedTensors& weights);

}  // namespace parity

#endif  // PARITY_NETWORKS_SYNTHETIC_WEIGHTS_H_
