// Makes the tensors of a variation.
#ifndef PARITY_VALIDATE_VARIED_INPUTS_H_
#define PARITY_VALIDATE_VARIED_INPUTS_H_

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/case_variations.h"

namespace parity {

// The tensors of a variation planned for `inputs`. Where an axis is not longer,
// elements keep their places; a longer one repeats the given tensor, each time
// shifted, so that neither rows nor the pictures of a batch are equal.
// Deterministic; inputs that do not change share their bytes. Errors: those of
// allocating.
[[nodiscard]] Result<NamedTensors> MakeVariation(
    const NamedTensors& inputs, const CaseVariation& variation);

// What the finite values of a floating tensor lie between; low > high when it
// has none.
struct ValueRange {
  double low;
  double high;
};
[[nodiscard]] ValueRange RangeOf(const Tensor& tensor);

// Whether ValueChange::kOffset applies.
[[nodiscard]] bool CanBeOffset(DType dtype);

}  // namespace parity

#endif  // PARITY_VALIDATE_VARIED_INPUTS_H_
