// libtorch's native convolution unfolds a whole image at once (k² times its
// size in memory), multiplies it with the weights on as many threads as BLAS
// likes, and computes a depthwise convolution as one small convolution after
// another. Here every convolution is cut into tasks of a few megabytes that run
// side by side, each a call of at::conv2d on one thread: on bands of output
// rows, or on ranges of channels where nothing is unfolded (1×1) or every
// channel stands alone (depthwise).
#include "backend/torch/convolution.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "backend/torch/run_trace.h"
#include "backend/torch/task_runner.h"

namespace parity {
namespace {

// The cut depends on the sizes alone, not on the number of threads: the result
// has the same bits on any number of them.
constexpr std::int64_t kTaskBytes = std::int64_t{4} << 20;  // unfolded input
constexpr std::int64_t kTaskMultiplications = 8'000'000;
constexpr std::int64_t kTaskChannels = 16;

// A traced run shows the joined pieces under the name of a convolution that was
// not cut.
constexpr std::string_view kTracedName = "aten::conv2d";

struct Sizes {
  std::int64_t batch, in_channels, out_channels, kernel, out_height, out_width;

  [[nodiscard]] std::int64_t multiplications(std::int64_t groups) const {
    return batch * out_channels * out_height * out_width * kernel * kernel *
           (in_channels / groups);
  }
};

Sizes SizesOf(const at::Tensor& input, const at::Tensor& weight,
              const ConvolutionOptions& options) {
  const std::int64_t kernel = weight.size(2);
  const auto out_size = [&](std::int64_t size) {
    return (size + 2 * options.padding - options.dilation * (kernel - 1) - 1) /
               options.stride +
           1;
  };
  return {.batch = input.size(0),
          .in_channels = input.size(1),
          .out_channels = weight.size(0),
          .kernel = kernel,
          .out_height = out_size(input.size(2)),
          .out_width = out_size(input.size(3))};
}

at::Tensor Convolve(const at::Tensor& input, const at::Tensor& weight,
                    const at::Tensor& bias, const ConvolutionOptions& options,
                    std::int64_t row_padding, std::int64_t groups) {
  return at::conv2d(
      input, weight, bias.defined() ? std::optional(bias) : std::nullopt,
      {options.stride, options.stride}, {row_padding, options.padding},
      {options.dilation, options.dilation}, groups);
}

// Output channels [o, o+count) of `out` from the same range of weights.
at::Tensor ByChannels(const at::Tensor& input, const at::Tensor& weight,
                      const at::Tensor& bias, const ConvolutionOptions& options,
                      const Sizes& sizes, std::int64_t tasks,
                      const TaskRunner& runner) {
  at::Tensor out = at::empty(
      {sizes.batch, sizes.out_channels, sizes.out_height, sizes.out_width},
      input.options());
  runner.ForEach(tasks, [&](std::int64_t task) {
    const TracePause pause;
    const std::int64_t first = sizes.out_channels * task / tasks;
    const std::int64_t count = sizes.out_channels * (task + 1) / tasks - first;
    const bool depthwise = options.groups > 1;
    out.narrow(1, first, count)
        .copy_(Convolve(depthwise ? input.narrow(1, first, count) : input,
                        weight.narrow(0, first, count),
                        bias.defined() ? bias.narrow(0, first, count) : bias,
                        options, options.padding, depthwise ? count : 1));
  });
  TraceValue(kTracedName, out);
  return out;
}

// Rows [first, first+count) of `input`; those outside are zero.
at::Tensor Rows(const at::Tensor& input, std::int64_t first,
                std::int64_t count) {
  const std::int64_t begin = std::max<std::int64_t>(first, 0);
  const std::int64_t end = std::min(first + count, input.size(2));
  at::Tensor inside = input.narrow(2, begin, end - begin);
  if (end - begin == count) return inside;
  return at::constant_pad_nd(inside,
                             {0, 0, begin - first, first + count - end});
}

at::Tensor ByBands(const at::Tensor& input, const at::Tensor& weight,
                   const at::Tensor& bias, const ConvolutionOptions& options,
                   const Sizes& sizes, std::int64_t bands,
                   const TaskRunner& runner) {
  at::Tensor out = at::empty(
      {sizes.batch, sizes.out_channels, sizes.out_height, sizes.out_width},
      input.options());
  runner.ForEach(sizes.batch * bands, [&](std::int64_t task) {
    const TracePause pause;
    const std::int64_t band = task % bands;
    const std::int64_t first = sizes.out_height * band / bands;
    const std::int64_t count = sizes.out_height * (band + 1) / bands - first;
    const at::Tensor rows = Rows(input.narrow(0, task / bands, 1),
                                 first * options.stride - options.padding,
                                 (count - 1) * options.stride +
                                     options.dilation * (sizes.kernel - 1) + 1);
    out.narrow(0, task / bands, 1)
        .narrow(2, first, count)
        .copy_(Convolve(rows, weight, bias, options, /*row_padding=*/0,
                        /*groups=*/1));
  });
  TraceValue(kTracedName, out);
  return out;
}

}  // namespace

at::Tensor Convolution(const at::Tensor& input, const at::Tensor& weight,
                       const at::Tensor& bias,
                       const ConvolutionOptions& options,
                       const TaskRunner& runner) {
  const Sizes sizes = SizesOf(input, weight, options);
  const bool onednn = at::globalContext().userEnabledMkldnn() &&
                      input.scalar_type() != c10::ScalarType::Double;
  const std::int64_t unfolded = sizes.in_channels / options.groups *
                                sizes.kernel * sizes.kernel * sizes.out_height *
                                sizes.out_width *
                                static_cast<std::int64_t>(input.element_size());
  const std::int64_t by_work =
      sizes.multiplications(options.groups) / kTaskMultiplications;
  const bool is_batch_of_small_ones =
      sizes.batch > 1 && sizes.batch * unfolded <= 2 * kTaskBytes;
  if (onednn || (options.groups == 1 && is_batch_of_small_ones)) {
    return Convolve(input, weight, bias, options, options.padding,
                    options.groups);
  }
  if (options.groups > 1) {
    // What counts here is the number of small convolutions.
    return ByChannels(input, weight, bias, options, sizes,
                      (sizes.out_channels + kTaskChannels - 1) / kTaskChannels,
                      runner);
  }
  if (sizes.kernel == 1 && options.stride == 1) {
    const std::int64_t most =
        std::max<std::int64_t>(sizes.out_channels / kTaskChannels, 1);
    return ByChannels(input, weight, bias, options, sizes,
                      std::clamp<std::int64_t>(by_work, 1, most), runner);
  }
  const std::int64_t bands =
      std::max((unfolded + kTaskBytes - 1) / kTaskBytes, by_work / sizes.batch);
  return ByBands(input, weight, bias, options, sizes,
                 std::clamp<std::int64_t>(bands, 1, sizes.out_height), runner);
}

}  // namespace parity
