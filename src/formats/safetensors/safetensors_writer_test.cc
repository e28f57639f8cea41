#include "formats/safetensors/safetensors_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "formats/safetensors/safetensors_reader.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Metadata = std::map<std::string, std::string>;

NamedTensor Make(std::string name, DType dtype, Shape shape) {
  auto tensor = Tensor::Allocate(dtype, std::move(shape));
  EXPECT_TRUE(tensor.has_value());
  const std::span<std::byte> bytes = tensor->mutable_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i + 1);
  return {.name = std::move(name), .tensor = *std::move(tensor)};
}

// In memory aligned as memory files are.
struct Image {
  explicit Image(std::size_t count) : blocks(count / 64 + 1), size(count) {}
  std::span<std::byte> bytes() {
    return std::as_writable_bytes(std::span(blocks)).first(size);
  }
  struct alignas(64) Block {
    std::array<std::byte, 64> bytes;
  };
  std::vector<Block> blocks;
  std::size_t size;
};

TEST(SafetensorsWriterTest, BytesArePinned) {
  const NamedTensors tensors{Make("m", DType::kUInt8, {3}),
                             Make("w", DType::kFloat32, {1, 2})};
  const Metadata metadata{{"k", "a\"\n"}};
  Image image(SafetensorsSize(tensors, metadata));
  ASSERT_TRUE(WriteSafetensorsTo(image.bytes(), tensors, metadata).has_value());
  const std::string header =
      R"({"__metadata__":{"k":"a\"\u000a"},)"
      R"("m":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},)"
      R"("w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  std::string expected("\xb8\0\0\0\0\0\0\0", 8);
  expected += header + std::string(184 - header.size(), ' ');
  expected += "\x01\x02\x03\x04\x05\x06\x07\x08\x01\x02\x03";
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(image.bytes().data()),
                        image.size),
            expected);
}

TEST(SafetensorsWriterTest, EveryDTypeComesBackWithoutACopy) {
  NamedTensors tensors;
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kFloat16,
        DType::kBFloat16, DType::kInt16, DType::kUInt16, DType::kFloat32,
        DType::kInt32, DType::kUInt32, DType::kFloat64, DType::kInt64,
        DType::kUInt64, DType::kComplex64}) {
    tensors.push_back(Make(std::string(Name(dtype)), dtype, {3, 1}));
  }
  tensors.push_back(Make("scalar", DType::kFloat32, {}));
  tensors.push_back(Make("empty", DType::kFloat32, {4, 0}));
  Image image(SafetensorsSize(tensors, {}));
  ASSERT_TRUE(WriteSafetensorsTo(image.bytes(), tensors, {}).has_value());
  const auto file = ReadSafetensors(image.bytes(), nullptr);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_EQ(file->tensors.size(), tensors.size());
  const std::byte* const begin = image.bytes().data();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& read = file->tensors[i].tensor;
    EXPECT_EQ(file->tensors[i].name, tensors[i].name);
    EXPECT_EQ(read.dtype(), tensors[i].tensor.dtype());
    EXPECT_EQ(read.shape(), tensors[i].tensor.shape());
    EXPECT_TRUE(std::ranges::equal(read.bytes(), tensors[i].tensor.bytes()));
    EXPECT_TRUE(read.bytes().empty() ||
                (read.bytes().data() > begin &&
                 read.bytes().data() < begin + image.size))
        << tensors[i].name << " was copied";
  }
}

TEST(SafetensorsWriterTest, NoTensorsAreAFileToo) {
  Image image(SafetensorsSize({}, {}));
  EXPECT_EQ(image.size, 64U);
  ASSERT_TRUE(WriteSafetensorsTo(image.bytes(), {}, {}).has_value());
  EXPECT_TRUE(ReadSafetensors(image.bytes(), nullptr)->tensors.empty());
}

TEST(SafetensorsWriterTest, WhatTheFormatCannotHoldIsRefused) {
  struct Case {
    NamedTensors tensors;
    Metadata metadata;
    ErrorCode code;
  };
  for (const Case& c : {
           Case{{Make("a", DType::kInt8, {1}), Make("a", DType::kInt8, {1})},
                {},
                ErrorCode::kInvalidArgument},
           Case{{Make("__metadata__", DType::kInt8, {1})},
                {},
                ErrorCode::kInvalidArgument},
           Case{{Make("\xff", DType::kInt8, {1})},
                {},
                ErrorCode::kInvalidArgument},
           Case{{}, {{"k", "\xff"}}, ErrorCode::kInvalidArgument},
           Case{{Make("c", DType::kComplex128, {1})},
                {},
                ErrorCode::kUnsupported},
       }) {
    Image image(SafetensorsSize(c.tensors, c.metadata));
    const Status status =
        WriteSafetensorsTo(image.bytes(), c.tensors, c.metadata);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, c.code);
  }
}

TEST(SafetensorsWriterTest, TargetsOfAnotherSizeAreRefused) {
  const NamedTensors tensors{Make("a", DType::kInt8, {1})};
  for (const std::size_t size :
       {std::size_t{0}, SafetensorsSize(tensors, {}) - 1,
        SafetensorsSize(tensors, {}) + 1}) {
    Image image(size);
    EXPECT_FALSE(WriteSafetensorsTo(image.bytes(), tensors, {}).has_value());
  }
}

TEST(SafetensorsWriterTest, FilesHoldTheSameBytesAsImages) {
  const NamedTensors tensors{Make("m", DType::kInt64, {3}),
                             Make("w", DType::kFloat16, {5})};
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "writer_test.safetensors";
  auto file = AtomicFile::Create(path);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  ASSERT_TRUE(WriteSafetensors(*file, tensors, {}).has_value());
  ASSERT_TRUE(file->Commit().has_value());
  Image image(SafetensorsSize(tensors, {}));
  ASSERT_TRUE(WriteSafetensorsTo(image.bytes(), tensors, {}).has_value());
  const auto mapping = FileMapping::Open(path);
  ASSERT_TRUE(mapping.has_value());
  EXPECT_TRUE(std::ranges::equal((*mapping)->bytes(), image.bytes()));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace parity
