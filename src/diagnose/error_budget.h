// Splits the difference of one output into reference error, export error and
// runtime error.
#ifndef PARITY_DIAGNOSE_ERROR_BUDGET_H_
#define PARITY_DIAGNOSE_ERROR_BUDGET_H_

#include "diagnose/noise_model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// One output as every computation gave it; null: not known.
struct OutputVersions {
  const Tensor* expected = nullptr;    // reference
  const Tensor* actual = nullptr;      // candidate
  const Tensor* expected64 = nullptr;  // reference in float64
  const Tensor* graph64 = nullptr;     // ONNX graph in float64
  double roundoff = 0;  // of the coarsest type inside; 0: the outputs' own
};

// Root mean square and largest magnitude of the finite elements; zeros for what
// cannot be compared. One pass.
[[nodiscard]] NoiseBounds ScaleOf(const Tensor& tensor);

// The difference between two tensors of equal shape. Tensors that cannot be
// subtracted (other shape, other class of dtype) are infinitely far apart.
[[nodiscard]] ErrorSize SizeOfError(const Tensor& expected,
                                    const Tensor& actual);

// Requires expected and actual. A shape that only the float64 side has makes
// that leg infinitely large.
[[nodiscard]] ErrorBudget MeasureBudget(const OutputVersions& versions);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_ERROR_BUDGET_H_
