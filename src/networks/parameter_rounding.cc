#include "networks/parameter_rounding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/half.h"
#include "base/status_macros.h"
#include "networks/matting_layers.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::vector<double> Widen(std::span<const float> values) {
  return {values.begin(), values.end()};
}

// Rounds to float32 "to odd": of the two neighbours of an inexact value, the
// one with the last bit set. A later rounding to float16 then gives what
// rounding the double once would.
float RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest) ||
      (std::bit_cast<std::uint32_t>(nearest) & 1U) != 0) {
    return nearest;
  }
  const float towards = static_cast<double>(nearest) < value
                            ? std::numeric_limits<float>::infinity()
                            : -std::numeric_limits<float>::infinity();
  return std::nextafter(nearest, towards);
}

// Rounds `values` into elements [first, …) of `tensor`. Losses are counted for
// float16 alone: every parameter of a checkpoint fits float32.
RoundingLoss Narrow(std::span<const double> values, std::size_t first,
                    Tensor& tensor) {
  RoundingLoss loss;
  if (tensor.dtype() == DType::kFloat32) {
    const std::span<float> rounded = tensor.MutableAs<float>();
    for (std::size_t i = 0; i < values.size(); ++i)
      rounded[first + i] = static_cast<float>(values[i]);
    return loss;
  }
  const std::span<std::uint16_t> rounded = tensor.MutableAs<std::uint16_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t half = HalfFromFloat(RoundToOdd(values[i]));
    rounded[first + i] = half;
    const int magnitude = half & 0x7FFF;
    if (magnitude == 0x7C00 && std::isfinite(values[i])) ++loss.overflowed;
    if (magnitude == 0 && values[i] != 0) ++loss.vanished;
  }
  return loss;
}

RoundingLoss& operator+=(RoundingLoss& sum, const RoundingLoss& part) {
  sum.overflowed += part.overflowed;
  sum.vanished += part.vanished;
  return sum;
}

}  // namespace

std::string RoundingLoss::Note(std::string_view name) const {
  const auto values = [](std::int64_t count) {
    return std::format("{} value{}", count, count == 1 ? "" : "s");
  };
  const std::string_view s = vanished == 1 ? "es" : "";
  if (overflowed == 0 && vanished == 0) return "";
  if (overflowed == 0)
    return std::format("{}: {} vanish{} in float16", name, values(vanished), s);
  std::string note =
      std::format("{}: {} overflow{} float16", name, values(overflowed),
                  overflowed == 1 ? "s" : "");
  if (vanished > 0) note += std::format(", {} vanish{}", vanished, s);
  return note;
}

Result<RoundedTensor> Round(const Tensor& parameter, DType dtype) {
  if (parameter.dtype() == dtype)
    return RoundedTensor{.tensor = parameter, .loss = {}};
  RoundedTensor rounded;
  PARITY_ASSIGN_OR_RETURN(rounded.tensor,
                          Tensor::Allocate(dtype, parameter.shape()));
  rounded.loss = Narrow(Widen(parameter.As<float>()), 0, rounded.tensor);
  return rounded;
}

Result<Tensor> AppendZeroInputs(const Tensor& weight, std::int64_t count) {
  Shape shape = weight.shape();
  const auto rows = static_cast<std::size_t>(shape[0]);
  shape[1] += count;
  PARITY_ASSIGN_OR_RETURN(Tensor wider,
                          Tensor::Allocate(weight.dtype(), std::move(shape)));
  const std::size_t size = weight.bytes().size() / rows;
  const std::size_t wider_size = wider.bytes().size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    std::ranges::copy(weight.bytes().subspan(row * size, size),
                      wider.mutable_bytes().subspan(row * wider_size).begin());
  }
  return wider;
}

Result<FoldedConv> FoldBatchNorm(const ConvAndBatchNorm& layer, DType dtype) {
  const std::vector<double> gamma = Widen(layer.gamma->As<float>());
  const std::vector<double> beta = Widen(layer.beta->As<float>());
  const std::vector<double> mean = Widen(layer.mean->As<float>());
  const std::vector<double> variance = Widen(layer.variance->As<float>());
  const std::size_t channels = gamma.size();
  FoldedConv folded;
  PARITY_ASSIGN_OR_RETURN(folded.weight.tensor,
                          Tensor::Allocate(dtype, layer.weight->shape()));
  PARITY_ASSIGN_OR_RETURN(folded.bias.tensor,
                          Tensor::Allocate(dtype, layer.gamma->shape()));
  const std::size_t row_size =
      static_cast<std::size_t>(layer.weight->element_count()) / channels;
  const std::span<const float> weight = layer.weight->As<float>();
  std::vector<double> row(row_size);
  std::vector<double> bias(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    const double factor = gamma[c] / std::sqrt(variance[c] + kBatchNormEpsilon);
    bias[c] = beta[c] - mean[c] * factor;
    for (std::size_t i = 0; i < row_size; ++i)
      row[i] = static_cast<double>(weight[c * row_size + i]) * factor;
    folded.weight.loss += Narrow(row, c * row_size, folded.weight.tensor);
  }
  folded.bias.loss = Narrow(bias, 0, folded.bias.tensor);
  return folded;
}

}  // namespace parity
