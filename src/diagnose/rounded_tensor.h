// Tensors in another floating dtype.
#ifndef PARITY_DIAGNOSE_ROUNDED_TENSOR_H_
#define PARITY_DIAGNOSE_ROUNDED_TENSOR_H_

#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// Floating elements rounded to another floating dtype, to nearest even (to 16
// bits by way of float32). Where either dtype is none, the tensor as it is.
[[nodiscard]] Tensor RoundedTo(const Tensor& tensor, DType dtype);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_ROUNDED_TENSOR_H_
