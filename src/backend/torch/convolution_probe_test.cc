#include "backend/torch/convolution_probe.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>
#include <torch/library.h>

#include <cmath>
#include <cstdint>
#include <optional>

namespace parity {
namespace {

// What stands in for oneDNN.
enum class Fault : std::uint8_t { kNone, kUnwrittenChannels, kRounding };
Fault fault = Fault::kNone;

at::Tensor Padded(const at::Tensor& tensor, std::int64_t channels,
                  bool write_padding) {
  at::Tensor padded = write_padding
                          ? at::zeros({tensor.size(0), channels, tensor.size(2),
                                       tensor.size(3)})
                          : at::empty({tensor.size(0), channels, tensor.size(2),
                                       tensor.size(3)});
  padded.narrow(1, 0, tensor.size(1)).copy_(tensor);
  return padded;
}

// With kUnwrittenChannels: as oneDNN 3.7.2, brings the channels to a multiple
// of 16 and leaves the new ones as the memory was. With kRounding: inputs in
// bfloat16.
at::Tensor FakeOneDnn(const at::Tensor& input, const at::Tensor& weight,
                      const std::optional<at::Tensor>& bias,
                      at::IntArrayRef padding, at::IntArrayRef stride,
                      at::IntArrayRef dilation, std::int64_t groups) {
  at::globalContext().setUserEnabledMkldnn(false);
  at::Tensor x = input;
  at::Tensor w = weight;
  if (fault == Fault::kUnwrittenChannels && groups == 1) {
    const std::int64_t channels = (input.size(1) + 15) / 16 * 16;
    x = Padded(input, channels, /*write_padding=*/false);
    w = Padded(weight, channels, /*write_padding=*/true);
  }
  if (fault == Fault::kRounding) x = x.to(at::kBFloat16).to(at::kFloat);
  at::Tensor result = at::conv2d(x, w, bias, stride, padding, dilation, groups);
  at::globalContext().setUserEnabledMkldnn(true);
  return result;
}

TORCH_LIBRARY_IMPL(aten, CPU, library) {
  library.impl("mkldnn_convolution", FakeOneDnn);
}

class ConvolutionProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    at::set_num_threads(1);
    at::globalContext().setUserEnabledMkldnn(true);
    if (!at::hasMKLDNN()) GTEST_SKIP() << "libtorch was built without oneDNN";
  }
  void TearDown() override { fault = Fault::kNone; }
  c10::InferenceMode inference_;
};

TEST_F(ConvolutionProbeTest, RightKernelsAgree) {
  for (int i = 0; i < 10; ++i) {
    const ProbeResult result = ProbeConvolutions();
    EXPECT_TRUE(result.agrees) << result.max_error;
    EXPECT_GT(result.max_error, 0);
    EXPECT_LT(result.max_error, 1e-4);
  }
}

TEST_F(ConvolutionProbeTest, NativeKernelsAgree) {
  at::globalContext().setUserEnabledMkldnn(false);
  EXPECT_TRUE(ProbeConvolutions().agrees);
}

TEST_F(ConvolutionProbeTest, UnwrittenChannelsAreFoundEveryTime) {
  fault = Fault::kUnwrittenChannels;
  for (int i = 0; i < 50; ++i) {
    const ProbeResult result = ProbeConvolutions();
    EXPECT_FALSE(result.agrees);
    EXPECT_TRUE(std::isinf(result.max_error)) << result.max_error;
  }
}

TEST_F(ConvolutionProbeTest, ReducedPrecisionIsFound) {
  fault = Fault::kRounding;
  const ProbeResult result = ProbeConvolutions();
  EXPECT_FALSE(result.agrees);
  EXPECT_GT(result.max_error, 1e-3);
  EXPECT_LT(result.max_error, 1);
}

}  // namespace
}  // namespace parity
