// Tensors across the border to libtorch, without copies where it is possible.
#ifndef PARITY_BACKEND_TORCH_TENSOR_BRIDGE_H_
#define PARITY_BACKEND_TORCH_TENSOR_BRIDGE_H_

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string_view>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Nothing for a dtype the other side does not have.
[[nodiscard]] std::optional<c10::ScalarType> TorchDType(DType dtype);
[[nodiscard]] std::optional<DType> DTypeFromTorch(c10::ScalarType type);

// A tensor over the same bytes, which it keeps alive. A model that writes to
// its input writes to those bytes: they must be writable and private to this
// side. Errors: kUnsupported for a dtype libtorch does not have.
[[nodiscard]] Result<at::Tensor> TorchFromParity(const Tensor& tensor);

// The tensor's bytes, shared when they are dense on the CPU and copied
// otherwise. Errors: kUnsupported naming the dtype (quantized ones, for
// example) or layout.
[[nodiscard]] Result<Tensor> ParityFromTorch(const at::Tensor& tensor,
                                             std::string_view name);

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_TENSOR_BRIDGE_H_
