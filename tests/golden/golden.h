// The goldens: inputs and outputs of the original PyTorch model, computed in
// float64 and rounded once to float32 (tests/data/goldens).
#ifndef PARITY_TESTS_GOLDEN_GOLDEN_H_
#define PARITY_TESTS_GOLDEN_GOLDEN_H_

#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct Golden {
  MattingConfig config;
  NamedTensors weights;  // the state_dict it was computed with
  NamedTensors inputs;   // src, bgr
  NamedTensors outputs;
};

// File names without their extension, sorted.
[[nodiscard]] std::vector<std::string> GoldenNames();

// Errors: those of reading the file; kCorrupt for metadata that make no sense.
[[nodiscard]] Result<Golden> LoadGolden(const std::string& name);

// Letters, digits and underscores only, as GoogleTest wants its names.
[[nodiscard]] std::string TestName(std::string name);

// max |actual − expected|, NaN if there is one; shapes must be equal. Takes
// float16, float32 and float64.
[[nodiscard]] double MaxDifference(const Tensor& expected,
                                   const Tensor& actual);

// max |value| of a float32 tensor.
[[nodiscard]] double MaxMagnitude(const Tensor& tensor);

}  // namespace parity

#endif  // PARITY_TESTS_GOLDEN_GOLDEN_H_
