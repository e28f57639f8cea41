#include "formats/onnx/onnx_dtype.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "formats/onnx/sample_models.h"
#include "parity/dtype.h"

namespace parity::onnx {
namespace {

TEST(OnnxDTypeTest, EveryDTypeHasANumberOfItsOwnAndTheSameName) {
  std::set<std::int32_t> numbers;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::int32_t number = NumberFromDType(dtype);
    EXPECT_TRUE(numbers.insert(number).second) << Name(dtype);
    EXPECT_EQ(DTypeFromNumber(number), dtype);
    EXPECT_EQ(NumberName(number), Name(dtype));
    EXPECT_EQ(NumberFromName(Name(dtype)), number);
  }
}

TEST(OnnxDTypeTest, NumbersAreThoseOfTheSpecification) {
  EXPECT_EQ(NumberFromDType(DType::kFloat32), 1);
  EXPECT_EQ(NumberFromDType(DType::kInt64), 7);
  EXPECT_EQ(NumberFromDType(DType::kBool), 9);
  EXPECT_EQ(NumberFromDType(DType::kFloat16), 10);
  EXPECT_EQ(NumberFromDType(DType::kBFloat16), 16);
}

TEST(OnnxDTypeTest, OtherTypesHaveOnlyAName) {
  for (const std::int32_t number : {0, 8, 17, 22, 26, 27, -1})
    EXPECT_FALSE(DTypeFromNumber(number)) << number;
  EXPECT_EQ(NumberName(8), "string");
  EXPECT_EQ(NumberName(17), "float8e4m3fn");
  EXPECT_EQ(NumberName(99), "type 99");
  EXPECT_EQ(NumberFromName("int4"), 22);
  EXPECT_FALSE(NumberFromName("sequence"));
}

}  // namespace
}  // namespace parity::onnx
