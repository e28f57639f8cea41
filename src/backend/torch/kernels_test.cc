#include "backend/torch/kernels.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "backend/torch/convolution_probe.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

bool OneDnnIsOn() { return at::globalContext().userEnabledMkldnn(); }

ProbeResult NotCalled() {
  ADD_FAILURE() << "probed";
  return {};
}

class KernelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!at::hasMKLDNN()) GTEST_SKIP() << "libtorch was built without oneDNN";
  }
};

TEST_F(KernelsTest, AnUnknownChoiceIsAnError) {
  const Result<Kernels> kernels = ChooseKernels("mkl", NotCalled);
  ASSERT_FALSE(kernels.has_value());
  EXPECT_EQ(kernels.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(kernels.error().message,
            "reference kernels are auto, onednn or native, not 'mkl'");
}

TEST_F(KernelsTest, AWrongOneDnnIsSwitchedOffAndReported) {
  const Result<Kernels> kernels = ChooseKernels("auto", [] {
    EXPECT_TRUE(OneDnnIsOn());
    return ProbeResult{.agrees = false, .max_error = 0.3149};
  });
  ASSERT_TRUE(kernels.has_value());
  EXPECT_FALSE(OneDnnIsOn());
  EXPECT_THAT(kernels->description, StartsWith("native ("));
  EXPECT_THAT(kernels->notes,
              ElementsAre(MatchesRegex(
                  "oneDNN [0-9.]+ convolutions are wrong on this machine "
                  "\\(off by 0.31 in the probe\\): the reference uses native "
                  "kernels \\(.+\\)")));
}

TEST_F(KernelsTest, NanIsReportedAsNotFinite) {
  const Result<Kernels> kernels = ChooseKernels("auto", [] {
    return ProbeResult{.agrees = false,
                       .max_error = std::numeric_limits<double>::infinity()};
  });
  ASSERT_TRUE(kernels.has_value());
  EXPECT_THAT(kernels->notes,
              ElementsAre(HasSubstr("(not finite in the probe)")));
}

TEST_F(KernelsTest, ARightOneDnnIsUsed) {
  const Result<Kernels> kernels =
      ChooseKernels("auto", [] { return ProbeResult{}; });
  ASSERT_TRUE(kernels.has_value());
  EXPECT_TRUE(OneDnnIsOn());
  EXPECT_THAT(kernels->description, MatchesRegex("oneDNN [0-9]+\\.[0-9.]+"));
  EXPECT_THAT(kernels->notes, IsEmpty());
}

TEST_F(KernelsTest, AChoiceOfTheUserIsNotProbed) {
  ASSERT_TRUE(ChooseKernels("native", NotCalled).has_value());
  EXPECT_FALSE(OneDnnIsOn());
  ASSERT_TRUE(ChooseKernels("onednn", NotCalled).has_value());
  EXPECT_TRUE(OneDnnIsOn());
}

}  // namespace
}  // namespace parity
