// DFT, STFT, windows, MelWeightMatrix.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_ifft.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <numbers>
#include <vector>

#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

constexpr std::int64_t kOnnxFloat = 1;  // TensorProto.FLOAT

// The last axis holds a real number, or its real and imaginary part; either is
// one number in the result.
at::Tensor Numbers(const at::Tensor& input) {
  if (input.dim() < 2 || input.size(-1) < 1 || input.size(-1) > 2)
    throw OperatorError("the last axis must hold one or two numbers");
  return input.size(-1) == 1 ? input.squeeze(-1)
                             : at::view_as_complex(input.contiguous());
}

std::int64_t IntegerInput(const OperatorContext& context, std::size_t index,
                          std::int64_t otherwise) {
  if (!context.HasInput(index)) return otherwise;
  const std::vector<std::int64_t> values = context.IntegersInput(index);
  if (values.size() != 1)
    throw OperatorError(std::format("input {} must be one number", index));
  return values.front();
}

std::vector<at::Tensor> Dft(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.opset() < 20 ? context.Integer("axis", 1)
                                                 : IntegerInput(context, 2, -2),
                            input.dim());
  if (axis == input.dim() - 1)
    throw OperatorError("the last axis holds the parts of numbers");
  const at::Tensor numbers = Numbers(input);
  const std::int64_t length = IntegerInput(context, 1, input.size(axis));
  const bool inverse = context.Integer("inverse", 0) != 0;
  const bool onesided = context.Integer("onesided", 0) != 0;
  if (inverse && onesided)
    throw OperatorError("inverse and onesided exclude each other");
  at::Tensor spectrum = inverse ? at::fft_ifft(numbers, length, axis)
                                : at::fft_fft(numbers, length, axis);
  if (onesided) spectrum = spectrum.narrow(axis, 0, (length / 2) + 1);
  return {at::view_as_real(spectrum).contiguous()};
}

// Inputs: signal [batch, length, 1 or 2], step, window, length of a frame.
std::vector<at::Tensor> Stft(const OperatorContext& context) {
  const at::Tensor signal = Numbers(context.Input(0));
  const std::int64_t step = IntegerInput(context, 1, 0);
  const std::int64_t length = IntegerInput(
      context, 3, context.HasInput(2) ? context.Input(2).numel() : 0);
  if (step < 1 || length < 1)
    throw OperatorError("frames need a step and a length");
  at::Tensor frames = signal.unfold(1, length, step);
  if (context.HasInput(2)) frames = frames * context.Input(2);
  at::Tensor spectrum = at::fft_fft(frames, length, -1);
  if (context.Integer("onesided", 1) != 0) {
    if (signal.is_complex())
      throw OperatorError("onesided needs a real signal");
    spectrum = spectrum.narrow(-1, 0, (length / 2) + 1);
  }
  return {at::view_as_real(spectrum).contiguous()};
}

// constant - first·cos(2πn/N) + second·cos(4πn/N)
std::vector<at::Tensor> CosineWindow(const OperatorContext& context,
                                     double constant, double first,
                                     double second) {
  const std::int64_t size = IntegerInput(context, 0, 0);
  const bool periodic = context.Integer("periodic", 1) != 0;
  const double turn =
      2 * std::numbers::pi / static_cast<double>(periodic ? size : size - 1);
  const at::Tensor angle = at::arange(size, at::kDouble) * turn;
  return {(angle.cos() * -first + (angle * 2).cos() * second + constant)
              .to(context.HeldType(
                  context.Integer("output_datatype", kOnnxFloat)))};
}

std::vector<at::Tensor> HannWindow(const OperatorContext& context) {
  return CosineWindow(context, 0.5, 0.5, 0);
}

std::vector<at::Tensor> HammingWindow(const OperatorContext& context) {
  return CosineWindow(context, 25.0 / 46, 21.0 / 46, 0);
}

std::vector<at::Tensor> BlackmanWindow(const OperatorContext& context) {
  return CosineWindow(context, 0.42, 0.5, 0.08);
}

double FloatInput(const OperatorContext& context, std::size_t index) {
  const std::vector<double> values = context.FloatsInput(index);
  if (values.size() != 1)
    throw OperatorError(std::format("input {} must be one number", index));
  return values.front();
}

// The spectrum's bins where the triangular filters begin, peak and end: evenly
// spaced on the mel scale.
std::vector<std::int64_t> MelEdges(std::int64_t filters, std::int64_t length,
                                   std::int64_t rate, double low_hertz,
                                   double high_hertz) {
  const auto mel = [](double hertz) {
    return 2595 * std::log10(1 + (hertz / 700));
  };
  const double low = mel(low_hertz);
  const double step =
      (mel(high_hertz) - low) / static_cast<double>(filters + 2);
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < filters + 2; ++i) {
    const double hertz =
        700 *
        (std::pow(10, (low + (static_cast<double>(i) * step)) / 2595) - 1);
    edges.push_back(static_cast<std::int64_t>(std::floor(
        static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
  }
  return edges;
}

std::vector<at::Tensor> MelWeightMatrix(const OperatorContext& context) {
  const std::int64_t filters = IntegerInput(context, 0, 0);
  const std::int64_t length = IntegerInput(context, 1, 0);
  const std::int64_t bins = (length / 2) + 1;
  const std::vector<std::int64_t> edges =
      MelEdges(filters, length, IntegerInput(context, 2, 1),
               FloatInput(context, 3), FloatInput(context, 4));
  const at::Tensor matrix = at::zeros({bins, filters}, at::kDouble);
  const auto set = [&](std::int64_t bin, std::int64_t filter, double weight) {
    if (bin < 0 || bin >= bins)
      throw OperatorError("a filter lies outside the spectrum");
    matrix.select(0, bin).select(0, filter).fill_(weight);
  };
  for (std::int64_t filter = 0; filter < filters; ++filter) {
    const auto i = static_cast<std::size_t>(filter);
    const std::int64_t begin = edges[i];
    const std::int64_t peak = edges[i + 1];
    const std::int64_t end = edges[i + 2];
    if (begin == peak) set(peak, filter, 1);
    for (std::int64_t bin = begin; begin < peak && bin <= peak; ++bin)
      set(bin, filter,
          static_cast<double>(bin - begin) / static_cast<double>(peak - begin));
    for (std::int64_t bin = peak; bin < end; ++bin)
      set(bin, filter,
          static_cast<double>(end - bin) / static_cast<double>(end - peak));
  }
  return {matrix.to(
      context.HeldType(context.Integer("output_datatype", kOnnxFloat)))};
}

}  // namespace

void AddSignalOperators(OperatorTable& table) {
  table["DFT"] = Dft;
  table["STFT"] = Stft;
  table["HannWindow"] = HannWindow;
  table["HammingWindow"] = HammingWindow;
  table["BlackmanWindow"] = BlackmanWindow;
  table["MelWeightMatrix"] = MelWeightMatrix;
}

}  // namespace parity
