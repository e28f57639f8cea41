#include "parity/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {
namespace {

TEST(DTypeTest, EveryNameLeadsBackToItsType) {
  for (int i = 0; i <= static_cast<int>(DType::kComplex128); ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(Name(dtype)), dtype) << Name(dtype);
  }
  EXPECT_FALSE(DTypeFromName("float33").has_value());
}

TEST(ShapeTest, ImpossibleShapesAreRefused) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_FALSE(ElementCount(std::array<std::int64_t, 2>{2, -1}).has_value());
  EXPECT_FALSE(ElementCount(std::array{kHuge, kHuge}).has_value());
  EXPECT_EQ(
      ElementCount(std::array<std::int64_t, 3>{kHuge, kHuge, 0}).has_value(),
      false);
  EXPECT_EQ(ElementCount(std::array<std::int64_t, 3>{2, 0, 5}), 0);
  EXPECT_EQ(ElementCount({}), 1);
}

TEST(ShapeTest, ParsesWhatItPrints) {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{1, 3, 720, 1280}})
    EXPECT_EQ(ParseShape(ToString(shape)), shape);
  EXPECT_EQ(ParseShape("1,3,4"), (Shape{1, 3, 4}));
  for (const char* bad : {"", "x", "1x", "x1", "1xx2", "-1x2", "1x3xH", "1 2",
                          "99999999999999999999"}) {
    EXPECT_FALSE(ParseShape(bad).has_value()) << bad;
  }
}

TEST(ShapeTest, FlatIndicesUnravelRowMajor) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(UnravelIndex(0, shape), (Shape{0, 0, 0}));
  EXPECT_EQ(UnravelIndex(23, shape), (Shape{1, 2, 3}));
  EXPECT_EQ(UnravelIndex(13, shape), (Shape{1, 0, 1}));
  EXPECT_EQ(UnravelIndex(0, Shape{}), Shape{});
}

TEST(TensorTest, SizeMustFitTheShape) {
  const std::array<float, 3> values{1, 2, 3};
  EXPECT_TRUE(Tensor::From<float>(DType::kFloat32, {3}, values).has_value());
  EXPECT_FALSE(Tensor::From<float>(DType::kFloat32, {2}, values).has_value());
  EXPECT_FALSE(Tensor::Borrow(DType::kFloat32, {4},
                              std::as_bytes(std::span(values)), nullptr)
                   .has_value());
}

TEST(TensorTest, MisalignedBytesAreCopiedNotBorrowed) {
  alignas(8) const std::array<std::byte, 16> block{};
  const auto aligned = Tensor::Borrow(DType::kFloat32, {2},
                                      std::span(block).subspan(4, 8), nullptr);
  const auto misaligned = Tensor::Borrow(
      DType::kFloat32, {2}, std::span(block).subspan(3, 8), nullptr);
  EXPECT_EQ(aligned->bytes().data(), block.data() + 4);
  EXPECT_NE(misaligned->bytes().data(), block.data() + 3);
}

TEST(TensorTest, CopiesShareTheirBytes) {
  auto tensor = Tensor::Allocate(DType::kInt64, {2});
  ASSERT_TRUE(tensor.has_value());
  tensor->MutableAs<std::int64_t>()[1] = 7;
  const Tensor copy =
      *tensor;  // NOLINT(performance-unnecessary-copy-initialization):
                // the copy is what is tested
  EXPECT_EQ(copy.As<std::int64_t>()[1], 7);
  EXPECT_EQ(copy.bytes().data(), tensor->bytes().data());
}

}  // namespace
}  // namespace parity
