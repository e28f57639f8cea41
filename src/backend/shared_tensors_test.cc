#include "backend/shared_tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

NamedTensors Example() {
  const std::array<float, 3> floats = {1.5F, -2, 0};
  const std::array<std::uint8_t, 2> bytes = {7, 255};
  return {
      {.name = "b",
       .tensor = *Tensor::From<std::uint8_t>(DType::kUInt8, {2}, bytes)},
      {.name = "a",
       .tensor = *Tensor::From<float>(DType::kFloat32, {3, 1}, floats)},
      {.name = "none", .tensor = *Tensor::Allocate(DType::kInt64, {0, 4})},
      {.name = "scalar", .tensor = *Tensor::Allocate(DType::kFloat64, {})},
  };
}

void ExpectSame(const NamedTensors& actual, const NamedTensors& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(actual[i].name, expected[i].name);
    EXPECT_EQ(actual[i].tensor.dtype(), expected[i].tensor.dtype());
    EXPECT_EQ(actual[i].tensor.shape(), expected[i].tensor.shape());
    EXPECT_THAT(actual[i].tensor.bytes(),
                ::testing::ElementsAreArray(expected[i].tensor.bytes()));
  }
}

Result<std::shared_ptr<const SharedTensors>> OpenBytes(std::string_view bytes) {
  auto memory = MemoryFile::Create("bytes", bytes.size());
  if (!bytes.empty())
    std::memcpy(memory->bytes().data(), bytes.data(), bytes.size());
  return SharedTensors::Open(*std::move(*memory).Seal(), "the outputs");
}

TEST(SharedTensorsTest, TensorsKeepTheirOrderAndValues) {
  const auto shared = Share(Example());
  ASSERT_TRUE(shared.has_value()) << shared.error().message;
  ExpectSame((*shared)->tensors(), Example());
}

TEST(SharedTensorsTest, AnEmptySetIsAnImageToo) {
  const auto shared = Share({});
  ASSERT_TRUE(shared.has_value()) << shared.error().message;
  EXPECT_TRUE((*shared)->tensors().empty());
}

TEST(SharedTensorsTest, OthersSeeTheSameThroughTheDescriptor) {
  const auto shared = Share(Example());
  const auto other = SharedTensors::Open(
      UniqueFd(::dup((*shared)->descriptor())), "the inputs");
  ASSERT_TRUE(other.has_value()) << other.error().message;
  ExpectSame((*other)->tensors(), Example());
}

TEST(SharedTensorsTest, TensorsOutliveTheImage) {
  NamedTensors tensors = (*Share(Example()))->tensors();
  ExpectSame(tensors, Example());
}

TEST(SharedTensorsTest, WritingToACopyChangesNothingElse) {
  const auto shared = Share(Example());
  const auto copy = (*shared)->CopyOnWrite();
  ASSERT_TRUE(copy.has_value()) << copy.error().message;
  ExpectSame(*copy, Example());
  *const_cast<std::byte*>((*copy)[0].tensor.bytes().data()) = std::byte{9};
  EXPECT_EQ((*copy)[0].tensor.As<std::uint8_t>()[0], 9);
  ExpectSame((*shared)->tensors(), Example());
  ExpectSame(*(*shared)->CopyOnWrite(), Example());
}

TEST(SharedTensorsTest, BytesThatAreNoImageAreRefused) {
  for (const std::string_view bytes : {"", "x", "not safetensors at all"}) {
    const auto shared = OpenBytes(bytes);
    ASSERT_FALSE(shared.has_value());
    EXPECT_EQ(shared.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(shared.error().message, HasSubstr("the outputs: "));
  }
}

TEST(SharedTensorsTest, UnsealedFilesAreRefused) {
  const auto shared = SharedTensors::Open(
      UniqueFd(::memfd_create("x", MFD_CLOEXEC)), "the outputs");
  ASSERT_FALSE(shared.has_value());
  EXPECT_EQ(shared.error().message,
            "the outputs came in no sealed memory file");
}

TEST(SharedTensorsTest, TwoTensorsOfOneNameAreRefused) {
  NamedTensors twins = Example();
  twins[1].name = twins[0].name;
  EXPECT_FALSE(Share(twins).has_value());
}

}  // namespace
}  // namespace parity
