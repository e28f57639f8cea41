#include "diagnose/rounded_tensor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/half.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::vector<double> Widen(const Tensor& tensor) {
  std::vector<double> values(static_cast<std::size_t>(tensor.element_count()));
  switch (tensor.dtype()) {
    case DType::kFloat64:
      std::ranges::copy(tensor.As<double>(), values.begin());
      break;
    case DType::kFloat32:
      std::ranges::copy(tensor.As<float>(), values.begin());
      break;
    case DType::kFloat16:
      std::ranges::transform(tensor.As<std::uint16_t>(), values.begin(),
                             FloatFromHalf);
      break;
    default:
      std::ranges::transform(tensor.As<std::uint16_t>(), values.begin(),
                             FloatFromBFloat16);
  }
  return values;
}

void Round(const std::vector<double>& values, Tensor& rounded) {
  const auto as_float = [](double value) { return static_cast<float>(value); };
  switch (rounded.dtype()) {
    case DType::kFloat64:
      std::ranges::copy(values, rounded.MutableAs<double>().begin());
      break;
    case DType::kFloat32:
      std::ranges::transform(values, rounded.MutableAs<float>().begin(),
                             as_float);
      break;
    case DType::kFloat16:
      std::ranges::transform(values, rounded.MutableAs<std::uint16_t>().begin(),
                             HalfFromFloat, as_float);
      break;
    default:
      std::ranges::transform(values, rounded.MutableAs<std::uint16_t>().begin(),
                             BFloat16FromFloat, as_float);
  }
}

}  // namespace

Tensor RoundedTo(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype || !IsFloating(tensor.dtype()) ||
      !IsFloating(dtype))
    return tensor;
  Result<Tensor> rounded = Tensor::Allocate(dtype, tensor.shape());
  if (!rounded) return tensor;
  Round(Widen(tensor), *rounded);
  return *std::move(rounded);
}

}  // namespace parity
