// oneDNN 3.7.2 leaves padded channels unwritten on some processors when it
// reorders an input whose channel count is not a multiple of its block of 16
// (uxlfoundation/oneDNN#3280). What the memory held before then takes part in
// the result, so the error comes and goes. The probe therefore frees memory
// full of NaN first, and keeps its convolutions small enough that malloc serves
// them from there and not from fresh, zeroed pages.
#include "backend/torch/convolution_probe.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/splitmix.h"

namespace parity {
namespace {

// float32 sums of 500 products of numbers in [-1, 1] are right to 2e-5, those
// of bfloat16 or TF32 products to 1e-2.
constexpr double kLimit = 1e-3;

// [batch, in_channels, size, size], padded so that it keeps its size.
struct Convolution {
  std::int64_t batch, in_channels, out_channels, kernel, stride, dilation,
      groups, size;

  [[nodiscard]] std::int64_t padding() const { return dilation * (kernel / 2); }
  [[nodiscard]] std::int64_t out_size() const {
    return (size - 1) / stride + 1;
  }
};

// libtorch asks oneDNN from batch 2 on, or above 20480 elements. No tensor may
// reach 128 KiB, where malloc maps fresh pages.
constexpr std::array<Convolution, 9> kConvolutions = {{
    {2, 24, 24, 3, 1, 1, 1, 14},   // 3×3, channels no multiple of 16
    {2, 42, 24, 3, 1, 1, 1, 12},   // the refiner's first
    {1, 54, 37, 3, 1, 1, 1, 20},   // the decoder's last
    {2, 22, 12, 3, 1, 1, 1, 10},   //
    {2, 24, 24, 3, 2, 1, 1, 15},   // strided
    {2, 24, 24, 3, 1, 2, 1, 14},   // dilated
    {2, 40, 40, 3, 1, 1, 40, 14},  // depthwise
    {2, 24, 40, 1, 1, 1, 1, 14},   // 1×1
    {2, 20, 20, 5, 1, 1, 1, 10},   // 5×5
}};

at::Tensor Noise(std::string_view name, std::array<std::int64_t, 4> shape) {
  at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(at::kFloat));
  const SplitMixStream stream(name, 0);
  const std::span values(tensor.mutable_data_ptr<float>(),
                         static_cast<std::size_t>(tensor.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(2 * stream.Uniform(i) - 1);
  return tensor;
}

// Adds `weight` · (one input channel, shifted to kernel position ky, kx).
void AddProduct(const Convolution& c, const float* input, double weight,
                std::int64_t ky, std::int64_t kx, double* out) {
  const std::int64_t size = c.out_size();
  const std::int64_t shift_y = ky * c.dilation - c.padding();
  const std::int64_t shift_x = kx * c.dilation - c.padding();
  const std::int64_t first_x =
      shift_x < 0 ? (-shift_x + c.stride - 1) / c.stride : 0;
  const std::int64_t end_x =
      std::min(size, (c.size - 1 - shift_x) / c.stride + 1);
  for (std::int64_t y = 0; y < size; ++y) {
    const std::int64_t in_y = y * c.stride + shift_y;
    if (in_y < 0 || in_y >= c.size) continue;
    const float* row = input + in_y * c.size + shift_x;
    for (std::int64_t x = first_x; x < end_x; ++x)
      out[y * size + x] += weight * static_cast<double>(row[x * c.stride]);
  }
}

// The convolution by its definition, [batch, out_channels, …] flattened.
std::vector<double> Exact(const Convolution& c, const float* input,
                          const float* weight) {
  const std::int64_t per_group = c.in_channels / c.groups;
  const std::int64_t area = c.out_size() * c.out_size();
  std::vector<double> out(
      static_cast<std::size_t>(c.batch * c.out_channels * area));
  double* plane = out.data();
  for (std::int64_t b = 0; b < c.batch; ++b) {
    for (std::int64_t o = 0; o < c.out_channels; ++o, plane += area) {
      const std::int64_t group = o / (c.out_channels / c.groups);
      const float* w = weight + o * per_group * c.kernel * c.kernel;
      for (std::int64_t i = 0; i < per_group; ++i) {
        const std::int64_t channel = group * per_group + i;
        const float* in =
            input + (b * c.in_channels + channel) * c.size * c.size;
        for (std::int64_t k = 0; k < c.kernel * c.kernel; ++k, ++w) {
          AddProduct(c, in, static_cast<double>(*w), k / c.kernel, k % c.kernel,
                     plane);
        }
      }
    }
  }
  return out;
}

double MaxError(const Convolution& c) {
  const at::Tensor x =
      Noise("probe.input", {c.batch, c.in_channels, c.size, c.size});
  const at::Tensor w =
      Noise("probe.weight",
            {c.out_channels, c.in_channels / c.groups, c.kernel, c.kernel});
  const at::Tensor actual =
      at::conv2d(x, w, std::nullopt, {c.stride, c.stride},
                 {c.padding(), c.padding()}, {c.dilation, c.dilation}, c.groups)
          .contiguous();
  const std::vector<double> expected =
      Exact(c, x.const_data_ptr<float>(), w.const_data_ptr<float>());
  const float* values = actual.const_data_ptr<float>();
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::abs(static_cast<double>(values[i]) - expected[i]);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, error);
  }
  return largest;
}

// Leaves 4 MiB of NaN to the allocations that follow. The block that is
// returned keeps malloc from giving them back to the system.
at::Tensor LeaveGarbage() {
  constexpr std::int64_t kBlocks = 64;
  constexpr std::int64_t kElements = 16'384;  // 64 KiB
  std::vector<at::Tensor> blocks;
  blocks.reserve(kBlocks);
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    blocks.push_back(at::full({kElements},
                              std::numeric_limits<double>::quiet_NaN(),
                              at::TensorOptions().dtype(at::kFloat)));
  }
  return blocks.back();
}

}  // namespace

ProbeResult ProbeConvolutions() {
  const at::Tensor last_block = LeaveGarbage();
  ProbeResult result;
  for (const Convolution& convolution : kConvolutions)
    result.max_error = std::max(result.max_error, MaxError(convolution));
  result.agrees = result.max_error < kLimit;
  return result;
}

}  // namespace parity
