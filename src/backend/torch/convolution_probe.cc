#include "backend/torch/convolution_probe.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/isfinite.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <format>
#include <limits>
#include <string>

#include "base/splitmix.h"

namespace parity {
namespace {

struct Convolution {
  std::int64_t batch, in_channels, out_channels, kernel, stride, dilation,
      groups, size;
};

constexpr std::array<Convolution, 6> kConvolutions = {{
    {2, 24, 24, 3, 1, 1, 1, 24},
    {2, 42, 24, 3, 1, 1, 1, 20},
    {1, 54, 37, 3, 1, 1, 1, 24},
    {2, 24, 40, 1, 1, 1, 1, 24},
    {2, 40, 40, 3, 2, 1, 40, 20},
    {2, 24, 24, 3, 2, 1, 1, 24},
}};

at::Tensor Noise(std::initializer_list<std::int64_t> shape,
                 std::string_view name) {
  at::Tensor tensor =
      at::empty(c10::IntArrayRef(shape.begin(), shape.size()), c10::kFloat);
  const SplitMixStream stream(name, 0);
  float* values = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>(
        2 * stream.Uniform(static_cast<std::uint64_t>(i)) - 1);
  return tensor;
}

double MaxError(const Convolution& c) {
  const at::Tensor x =
      Noise({c.batch, c.in_channels, c.size, c.size}, "probe.x");
  const at::Tensor w =
      Noise({c.out_channels, c.in_channels / c.groups, c.kernel, c.kernel},
            "probe.w");
  const auto run = [&c](const at::Tensor& input, const at::Tensor& weight) {
    return at::conv2d(input, weight, std::nullopt, c.stride,
                      c.dilation * (c.kernel / 2), c.dilation, c.groups);
  };
  const at::Tensor expected = run(x.to(c10::kDouble), w.to(c10::kDouble));
  const at::Tensor difference = run(x, w).sub(expected).abs();
  const double error = difference.max().item<double>();
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

}  // namespace

ProbeResult ProbeOneDnn() {
  ProbeResult result;
  for (const Convolution& c : kConvolutions) {
    const double error = MaxError(c);
    if (error < 1e-3) continue;
    return {.agrees = false, .max_error = error, .convolution = "x"};
  }
  return result;
}

}  // namespace parity
