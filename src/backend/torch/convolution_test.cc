#include "backend/torch/convolution.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "backend/torch/task_runner.h"

namespace parity {
namespace {

struct Case {
  std::int64_t batch, in_channels, out_channels, height, width, kernel;
  ConvolutionOptions options;
  bool bias = false;
};

class ConvolutionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::globalContext().setUserEnabledMkldnn(false);
    at::set_num_threads(1);
    at::manual_seed(7);
  }
  c10::InferenceMode inference_;
};

// float64 leaves no room for a wrong row or channel.
void ExpectSameAsWhole(const Case& c, int threads) {
  SCOPED_TRACE(::testing::Message()
               << c.batch << 'x' << c.in_channels << 'x' << c.height << 'x'
               << c.width << " k" << c.kernel << " s" << c.options.stride
               << " p" << c.options.padding << " d" << c.options.dilation
               << " g" << c.options.groups << " threads " << threads);
  const at::TensorOptions doubles = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor x =
      at::randn({c.batch, c.in_channels, c.height, c.width}, doubles);
  const at::Tensor w = at::randn(
      {c.out_channels, c.in_channels / c.options.groups, c.kernel, c.kernel},
      doubles);
  const at::Tensor b =
      c.bias ? at::randn({c.out_channels}, doubles) : at::Tensor();
  const at::Tensor expected =
      at::conv2d(x, w, c.bias ? std::optional(b) : std::nullopt,
                 {c.options.stride, c.options.stride},
                 {c.options.padding, c.options.padding},
                 {c.options.dilation, c.options.dilation}, c.options.groups);
  const at::Tensor actual =
      Convolution(x, w, b, c.options, TaskRunner(threads));
  ASSERT_EQ(actual.sizes(), expected.sizes());
  EXPECT_TRUE(actual.is_contiguous());
  EXPECT_LT(actual.sub(expected).abs().max().item<double>(), 1e-10);
}

TEST_F(ConvolutionTest, PiecesGiveTheWhole) {
  for (const Case& c : {
           // Several bands; heights that the bands do not divide.
           Case{1, 16, 8, 131, 127, 3, {.padding = 1}, true},
           Case{2, 16, 8, 97, 101, 3, {.padding = 1}},
           Case{1, 16, 8, 130, 64, 3, {.stride = 2, .padding = 1}},
           Case{1, 6, 16, 95, 90, 7, {.stride = 2, .padding = 3}},
           Case{1, 16, 12, 60, 70, 3, {.padding = 6, .dilation = 6}},
           // A band in which every row is padding: less input than dilation.
           Case{1, 96, 64, 5, 60, 3, {.padding = 9, .dilation = 9}},
           Case{1, 40, 24, 66, 70, 3, {}, true},  // no padding
           Case{3, 8, 4, 33, 31, 5, {.padding = 2}},
           // 1×1 and depthwise, on channels that the threads do not divide.
           Case{1, 67, 131, 20, 30, 1, {}, true},
           Case{2, 67, 131, 20, 30, 1, {}},
           Case{1, 64, 131, 33, 30, 1, {.stride = 2}},
           Case{1, 99, 99, 20, 30, 3, {.padding = 1, .groups = 99}},
           Case{
               2, 99, 99, 21, 30, 3, {.stride = 2, .padding = 1, .groups = 99}},
           Case{1, 3, 3, 9, 9, 3, {.padding = 2, .dilation = 2, .groups = 3}},
           // Small ones.
           Case{128, 12, 4, 6, 6, 3, {}, true},
           Case{1, 1, 1, 1, 1, 1, {}},
       }) {
    for (const int threads : {1, 2, 5}) ExpectSameAsWhole(c, threads);
  }
}

TEST_F(ConvolutionTest, TheNumberOfThreadsDoesNotChangeABit) {
  const at::Tensor x = at::randn({1, 54, 90, 80});
  const at::Tensor w = at::randn({37, 54, 3, 3});
  const at::Tensor one = Convolution(x, w, {}, {.padding = 1}, TaskRunner(1));
  const at::Tensor four = Convolution(x, w, {}, {.padding = 1}, TaskRunner(4));
  EXPECT_TRUE(one.equal(four));
}

}  // namespace
}  // namespace parity
