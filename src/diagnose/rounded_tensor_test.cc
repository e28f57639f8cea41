#include "diagnose/rounded_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;

Tensor Doubles(const std::vector<double>& values) {
  return *Tensor::From<double>(
      DType::kFloat64, {static_cast<std::int64_t>(values.size())}, values);
}

TEST(RoundedTensorTest, DoublesBecomeTheNearestFloats) {
  const Tensor rounded =
      RoundedTo(Doubles({0.1, -1e300, 1.0 + 0x1p-25}), DType::kFloat32);
  ASSERT_EQ(rounded.dtype(), DType::kFloat32);
  EXPECT_THAT(rounded.As<float>(),
              ElementsAre(0.1F, -std::numeric_limits<float>::infinity(), 1.0F));
}

TEST(RoundedTensorTest, SixteenBitsOfBothKinds) {
  const Tensor values = Doubles({1.0, 65520.0, -2.0});
  EXPECT_THAT(RoundedTo(values, DType::kFloat16).As<std::uint16_t>(),
              ElementsAre(0x3C00, 0x7C00, 0xC000));
  EXPECT_THAT(RoundedTo(values, DType::kBFloat16).As<std::uint16_t>(),
              ElementsAre(0x3F80, 0x4780, 0xC000));
  EXPECT_THAT(RoundedTo(RoundedTo(values, DType::kBFloat16), DType::kFloat64)
                  .As<double>(),
              ElementsAre(1.0, 65536.0, -2.0));
}

TEST(RoundedTensorTest, WhatIsNoFloatStaysAsItIs) {
  const Tensor integers = *Tensor::From<std::int64_t>(
      DType::kInt64, {2}, std::vector<std::int64_t>{1, 2});
  const Tensor same = RoundedTo(integers, DType::kFloat32);
  EXPECT_EQ(same.dtype(), DType::kInt64);
  EXPECT_EQ(same.bytes().data(), integers.bytes().data());
  EXPECT_EQ(RoundedTo(Doubles({1}), DType::kInt64).dtype(), DType::kFloat64);
}

}  // namespace
}  // namespace parity
