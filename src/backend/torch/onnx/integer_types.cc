#include "backend/torch/onnx/integer_types.h"

#include <ATen/core/Tensor.h>
#include <c10/core/ScalarType.h>

#include "backend/torch/onnx/operator_context.h"

namespace parity {

bool IsBareUnsigned(c10::ScalarType type) {
  return type == c10::ScalarType::UInt16 || type == c10::ScalarType::UInt32 ||
         type == c10::ScalarType::UInt64;
}

at::Tensor Widened(const at::Tensor& tensor) {
  if (!IsBareUnsigned(tensor.scalar_type())) return tensor;
  at::Tensor wide = tensor.to(c10::ScalarType::Long);
  if (tensor.scalar_type() == c10::ScalarType::UInt64 &&
      wide.lt(0).any().item<bool>())
    throw OperatorError("uint64 values of 2^63 and more cannot be evaluated");
  return wide;
}

at::Tensor AsSigned(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case c10::ScalarType::UInt16:
      return tensor.view(c10::ScalarType::Short);
    case c10::ScalarType::UInt32:
      return tensor.view(c10::ScalarType::Int);
    case c10::ScalarType::UInt64:
      return tensor.view(c10::ScalarType::Long);
    default:
      return tensor;
  }
}

at::Tensor FromSigned(const at::Tensor& tensor, c10::ScalarType type) {
  return IsBareUnsigned(type) ? tensor.view(type) : tensor;
}

}  // namespace parity
