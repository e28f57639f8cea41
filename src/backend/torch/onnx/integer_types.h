// Integer types that libtorch stores but hardly computes with: uint16, uint32
// and uint64.
#ifndef PARITY_BACKEND_TORCH_ONNX_INTEGER_TYPES_H_
#define PARITY_BACKEND_TORCH_ONNX_INTEGER_TYPES_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

namespace parity {

// uint16, uint32, uint64.
[[nodiscard]] bool IsBareUnsigned(c10::ScalarType type);

// For arithmetic: such integers as int64, everything else as it is. Throws
// OperatorError for uint64 values of 2^63 and more. Give the result its type
// with `.to(type)`, which wraps around.
[[nodiscard]] at::Tensor Widened(const at::Tensor& tensor);

// For moving elements around: the bytes of such integers as signed ones of the
// same size, everything else as it is; and back.
[[nodiscard]] at::Tensor AsSigned(const at::Tensor& tensor);
[[nodiscard]] at::Tensor FromSigned(const at::Tensor& tensor,
                                    c10::ScalarType type);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_ONNX_INTEGER_TYPES_H_
