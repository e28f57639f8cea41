#include "networks/parameter_rounding.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/half.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Floats(Shape shape, const std::vector<float>& values) {
  Result<Tensor> tensor = Tensor::From(DType::kFloat32, std::move(shape),
                                       std::span<const float>(values));
  EXPECT_TRUE(tensor.has_value());
  return *std::move(tensor);
}

TEST(RoundTest, LossesOfFloat16AreCounted) {
  const Tensor parameter =
      Floats({9}, {kInf, kNan, 65519, 65520, -7e4F, 0, -0.0F, 1e-8F, -2e-8F});
  const Result<RoundedTensor> rounded = Round(parameter, DType::kFloat16);
  ASSERT_TRUE(rounded.has_value());
  EXPECT_EQ(rounded->tensor.dtype(), DType::kFloat16);
  // An infinity was one before, a zero too.
  EXPECT_EQ(rounded->loss.overflowed, 2);
  EXPECT_EQ(rounded->loss.vanished, 2);
  EXPECT_EQ(rounded->tensor.As<std::uint16_t>()[2], 0x7BFF);
}

TEST(RoundTest, Float32SharesItsBytes) {
  const Tensor parameter = Floats({2}, {1e30F, 1e-30F});
  const Result<RoundedTensor> rounded = Round(parameter, DType::kFloat32);
  ASSERT_TRUE(rounded.has_value());
  EXPECT_EQ(rounded->tensor.bytes().data(), parameter.bytes().data());
  EXPECT_EQ(rounded->loss.overflowed + rounded->loss.vanished, 0);
}

TEST(RoundingLossTest, TheNoteCountsInWords) {
  struct Case {
    RoundingLoss loss;
    const char* note;
  };
  for (const Case& c : {
           Case{{.overflowed = 0, .vanished = 0}, ""},
           Case{{.overflowed = 3, .vanished = 17},
                "w: 3 values overflow float16, 17 vanish"},
           Case{{.overflowed = 1, .vanished = 1},
                "w: 1 value overflows float16, 1 vanishes"},
           Case{{.overflowed = 0, .vanished = 1},
                "w: 1 value vanishes in float16"},
           Case{{.overflowed = 0, .vanished = 2},
                "w: 2 values vanish in float16"},
       }) {
    EXPECT_EQ(c.loss.Note("w"), c.note);
  }
}

class FoldBatchNormTest : public ::testing::Test {
 protected:
  [[nodiscard]] ConvAndBatchNorm Layer() const {
    return {.weight = &weight_,
            .gamma = &gamma_,
            .beta = &beta_,
            .mean = &mean_,
            .variance = &variance_};
  }
  Tensor weight_ = Floats({2, 1, 1, 2}, {0.1F, -0.2F, 0.3F, 1e-6F});
  Tensor gamma_ = Floats({2}, {0.7F, 0.0133F});
  Tensor beta_ = Floats({2}, {-0.05F, 3});
  Tensor mean_ = Floats({2}, {0.3F, -2});
  Tensor variance_ = Floats({2}, {0, 1.7F});
};

TEST_F(FoldBatchNormTest, RoundsTheExactProductOnce) {
  const Result<FoldedConv> folded = FoldBatchNorm(Layer(), DType::kFloat32);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->weight.tensor.shape(), weight_.shape());
  for (std::size_t c = 0; c < 2; ++c) {
    const double factor =
        gamma_.As<float>()[c] / std::sqrt(variance_.As<float>()[c] + 1e-5);
    for (std::size_t i = 2 * c; i < 2 * c + 2; ++i) {
      EXPECT_EQ(folded->weight.tensor.As<float>()[i],
                static_cast<float>(weight_.As<float>()[i] * factor));
    }
    EXPECT_EQ(folded->bias.tensor.As<float>()[c],
              static_cast<float>(beta_.As<float>()[c] -
                                 mean_.As<float>()[c] * factor));
  }
}

TEST_F(FoldBatchNormTest, Float16IsRoundedOnceNotByWayOfFloat32) {
  // Products as near the middle of two float16 values as float32 weights can
  // make them. Float32 would move many to the middle, and ties go to even.
  constexpr double kMiddle = 1 + 0x1p-11;
  variance_ = Floats({2}, {0, 0});
  int told_apart = 0;
  for (int i = 0; i < 50; ++i) {
    const auto gamma = static_cast<float>(0.5 + 0.01 * i);
    const double factor = gamma / std::sqrt(1e-5);
    const auto weight = static_cast<float>(kMiddle / factor);
    gamma_ = Floats({2}, {gamma, gamma});
    weight_ = Floats({2, 1, 1, 1}, {weight, weight});
    const Result<FoldedConv> folded = FoldBatchNorm(Layer(), DType::kFloat16);
    ASSERT_TRUE(folded.has_value());
    const double product = weight * factor;
    const std::uint16_t expected = product > kMiddle ? 0x3C01 : 0x3C00;
    EXPECT_EQ(folded->weight.tensor.As<std::uint16_t>()[0], expected) << i;
    if (HalfFromFloat(static_cast<float>(product)) != expected) ++told_apart;
  }
  EXPECT_GT(told_apart, 0);
}

TEST_F(FoldBatchNormTest, WeightsThatOverflowFloat16AreCounted) {
  gamma_ = Floats({2}, {1e6F, 1e-9F});
  const Result<FoldedConv> folded = FoldBatchNorm(Layer(), DType::kFloat16);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->weight.loss.overflowed, 2);
  EXPECT_EQ(folded->weight.loss.vanished, 2);
  EXPECT_EQ(folded->bias.loss.overflowed, 1);
}

TEST(AppendZeroInputsTest, OldChannelsKeepTheirPlace) {
  const Tensor weight = Floats({2, 2, 1, 1}, {1, 2, 3, 4});
  const Result<Tensor> wider = AppendZeroInputs(weight, 1);
  ASSERT_TRUE(wider.has_value());
  EXPECT_EQ(wider->shape(), (Shape{2, 3, 1, 1}));
  const auto values = wider->As<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()),
            (std::vector<float>{1, 2, 0, 3, 4, 0}));
}

}  // namespace
}  // namespace parity
