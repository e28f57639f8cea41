#include "formats/elements/elements.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(ElementsTest, ImpossibleLayoutsAreRefused) {
  struct Case {
    Shape shape;
    std::vector<std::int64_t> strides;
    std::int64_t offset;
  };
  for (const Case& c :
       {Case{{2}, {}, 0}, Case{{2}, {-1}, 1}, Case{{2}, {1}, -1},
        Case{{-1}, {1}, 0}, Case{{2}, {kMax}, 0}, Case{{2}, {1}, kMax},
        Case{{kMax, 2}, {1, 1}, 0}, Case{{1 << 20, 1 << 20}, {kMax / 4, 1}, 0},
        Case{Shape(65, 1), std::vector<std::int64_t>(65, 1), 0}}) {
    EXPECT_FALSE(
        Extent({.shape = c.shape, .strides = c.strides, .offset = c.offset})
            .has_value())
        << ToString(c.shape);
  }
}

TEST(ElementsTest, GatherNeverLeavesTheBlock) {
  const std::array<std::byte, 24> block{};
  const Shape shape{2, 3};
  const std::vector<std::int64_t> strides{3, 1};
  EXPECT_TRUE(
      Gather(DType::kFloat32, {.shape = shape, .strides = strides}, block)
          .has_value());
  EXPECT_FALSE(Gather(DType::kFloat32,
                      {.shape = shape, .strides = strides, .offset = 1}, block)
                   .has_value());
  EXPECT_FALSE(
      Gather(DType::kFloat64, {.shape = shape, .strides = strides}, block)
          .has_value());
}

// Every element size, a permuted layout, against the definition of strides.
template <class T>
void ExpectGathered(DType dtype) {
  std::vector<T> block(60);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<T>(i);
  const Shape shape{3, 1, 4, 2};
  const std::vector<std::int64_t> strides{2, 99, 6, 0};
  const auto tensor =
      Gather(dtype, {.shape = shape, .strides = strides, .offset = 5},
             std::as_bytes(std::span(block)));
  ASSERT_TRUE(tensor.has_value()) << tensor.error().message;
  const std::span<const T> values = tensor->template As<T>();
  std::size_t next = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(values[next++], block[5 + 2 * i + 6 * k]);
      EXPECT_EQ(values[next++], block[5 + 2 * i + 6 * k]);
    }
  }
}

TEST(ElementsTest, GatherFollowsStridesAndOffset) {
  ExpectGathered<std::uint8_t>(DType::kUInt8);
  ExpectGathered<std::int16_t>(DType::kInt16);
  ExpectGathered<float>(DType::kFloat32);
  ExpectGathered<double>(DType::kFloat64);
}

TEST(ElementsTest, SizeOneAxesDoNotBreakContiguity) {
  const Shape shape{2, 1, 3};
  const std::vector<std::int64_t> contiguous{3, 77, 1};
  const std::vector<std::int64_t> permuted{1, 77, 2};
  EXPECT_TRUE(IsContiguous({.shape = shape, .strides = contiguous}));
  EXPECT_FALSE(IsContiguous({.shape = shape, .strides = permuted}));
  EXPECT_TRUE(IsContiguous({.shape = Shape{}, .strides = {}}));
}

TEST(ElementsTest, ComplexPartsAreReversedApart) {
  std::array<std::byte, 16> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(i);
  ReverseByteOrder(DType::kComplex64, bytes);
  EXPECT_EQ(bytes[0], std::byte{3});
  EXPECT_EQ(bytes[4], std::byte{7});
  ReverseByteOrder(DType::kComplex64, bytes);
  ReverseByteOrder(DType::kFloat64, bytes);
  EXPECT_EQ(bytes[0], std::byte{7});
  EXPECT_EQ(bytes[8], std::byte{15});
}

TEST(ElementsTest, BytesThatAreNoBoolAreNamed) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{0},
                                       std::byte{2}};
  const Shape shape{3};
  const auto bad =
      CheckBools({.dtype = DType::kBool, .shape = shape, .bytes = bytes});
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().message,
            "element 2 is the byte 2, which is no bool (0 or 1)");
  EXPECT_TRUE(
      CheckBools({.dtype = DType::kUInt8, .shape = shape, .bytes = bytes})
          .has_value());
}

}  // namespace
}  // namespace parity
