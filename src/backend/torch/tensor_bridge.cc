#include "backend/torch/tensor_bridge.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>
#include <format>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "backend/torch/run_trace.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::array<std::pair<DType, c10::ScalarType>, 15> kDTypes = {{
    {DType::kFloat16, c10::ScalarType::Half},
    {DType::kBFloat16, c10::ScalarType::BFloat16},
    {DType::kFloat32, c10::ScalarType::Float},
    {DType::kFloat64, c10::ScalarType::Double},
    {DType::kInt8, c10::ScalarType::Char},
    {DType::kInt16, c10::ScalarType::Short},
    {DType::kInt32, c10::ScalarType::Int},
    {DType::kInt64, c10::ScalarType::Long},
    {DType::kUInt8, c10::ScalarType::Byte},
    {DType::kUInt16, c10::ScalarType::UInt16},
    {DType::kUInt32, c10::ScalarType::UInt32},
    {DType::kUInt64, c10::ScalarType::UInt64},
    {DType::kBool, c10::ScalarType::Bool},
    {DType::kComplex64, c10::ScalarType::ComplexFloat},
    {DType::kComplex128, c10::ScalarType::ComplexDouble},
}};

}  // namespace

std::optional<c10::ScalarType> TorchDType(DType dtype) {
  for (const auto& [ours, theirs] : kDTypes) {
    if (ours == dtype) return theirs;
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromTorch(c10::ScalarType type) {
  for (const auto& [ours, theirs] : kDTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

Result<at::Tensor> TorchFromParity(const Tensor& tensor) {
  const std::optional<c10::ScalarType> type = TorchDType(tensor.dtype());
  if (!type) {
    return Fail(ErrorCode::kUnsupported,
                std::format("libtorch has no dtype {}", Name(tensor.dtype())));
  }
  auto owner = std::make_shared<const Tensor>(tensor);
  auto* data = const_cast<std::byte*>(owner->bytes().data());
  return at::from_blob(
      data, tensor.shape(), [owner](void*) mutable { owner.reset(); },
      at::TensorOptions().dtype(type));
}

Result<Tensor> ParityFromTorch(const at::Tensor& tensor,
                               std::string_view name) {
  const std::optional<DType> dtype = DTypeFromTorch(tensor.scalar_type());
  if (!dtype || tensor.layout() != c10::kStrided) {
    return Fail(
        ErrorCode::kUnsupported,
        std::format("output '{}' is a {} tensor of layout {}, which "
                    "cannot be compared",
                    name, c10::toString(tensor.scalar_type()),
                    tensor.layout() == c10::kStrided ? "strided" : "sparse"));
  }
  // Not a part of what was run.
  const TracePause pause;
  // Lazy conjugation and negation are bits of the tensor, not of its bytes.
  auto owner = std::make_shared<const at::Tensor>(
      tensor.to(c10::kCPU).resolve_conj().resolve_neg().contiguous());
  const std::span<const std::byte> bytes(
      static_cast<const std::byte*>(owner->const_data_ptr()), owner->nbytes());
  return Tensor::Borrow(*dtype,
                        Shape(owner->sizes().begin(), owner->sizes().end()),
                        bytes, owner);
}

}  // namespace parity
