// Does a state_dict fit a network?
#ifndef PARITY_NETWORKS_WEIGHTS_CHECK_H_
#define PARITY_NETWORKS_WEIGHTS_CHECK_H_

#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct CheckedWeights {
  // One entry for each of ParameterTable(config), in its order and dtype.
  NamedTensors weights;
  // Lines for the user: which keys were filled in or left out.
  std::vector<std::string> notes;
};

// Fits `weights` to `config`: sorts them and converts floating values to
// float32 (float64 is rounded to nearest). Entries that already have the right
// dtype share their bytes. With `allow_missing`, missing keys get what does
// least (batch normalisation: weight and variance 1, all else 0) and unexpected
// keys are left out. Errors: kIncompatible listing every missing, unexpected
// and misshapen key (a misshapen one is never allowed), and naming the
// configuration that does fit where there is one.
[[nodiscard]] Result<CheckedWeights> CheckWeights(const MattingConfig& config,
                                                  const NamedTensors& weights,
                                                  bool allow_missing);

}  // namespace parity

#endif  // PARITY_NETWORKS_WEIGHTS_CHECK_H_
