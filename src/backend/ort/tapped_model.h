// A model that also returns values from its inside.
#ifndef PARITY_BACKEND_ORT_TAPPED_MODEL_H_
#define PARITY_BACKEND_ORT_TAPPED_MODEL_H_

#include <string>
#include <vector>

#include "parity/error.h"

namespace parity {

struct TappedModel {
  std::string bytes;                 // an ONNX file with all weights inside
  std::vector<std::string> outputs;  // those of the original
};

// The model at `path` whose main graph also returns `taps`, after its outputs
// and without a declared type. Names of outputs and names given twice add
// nothing; inputs and initializers can be tapped, too. Everything else stays as
// it is, but an optimizer will not fuse a node's tapped output away. Errors:
// those of reading; kNotFound naming the first tap that is no value of the main
// graph; kUnsupported for models beyond 2 GB.
[[nodiscard]] Result<TappedModel> ReadTappedModel(
    const std::string& path, const std::vector<std::string>& taps);

}  // namespace parity

#endif  // PARITY_BACKEND_ORT_TAPPED_MODEL_H_
