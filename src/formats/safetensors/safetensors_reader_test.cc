#include "formats/safetensors/safetensors_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/testing/damage.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using std::string_literals::operator""s;
using ::testing::HasSubstr;
using testing_damage::Copy;

std::string File(std::string_view header, std::string_view data) {
  const std::uint64_t size = header.size();
  std::string file(sizeof(size), '\0');
  std::memcpy(file.data(), &size, sizeof(size));
  return file += std::string(header) + std::string(data);
}

Result<SafetensorsFile> Read(std::string_view file) {
  const Copy copy = testing_damage::CopyOf(std::as_bytes(std::span(file)));
  return ReadSafetensors(copy.bytes, copy.block);
}

constexpr std::string_view kSmallHeader =
    R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[1,2],)"
    R"("data_offsets":[0,8]},"y":{"dtype":"BOOL","shape":[],"data_offsets":[8,9]}} )";
std::string SmallFile() {
  return File(kSmallHeader, "\0\0\x80\x3f\0\0\0\xc0\x01"s);
}

TEST(SafetensorsReaderTest, HeadersThatLieAreRefused) {
  struct Case {
    std::string header;
    std::string data;
    std::string_view message;
  };
  const auto tensor = [](std::string_view fields) {
    return std::string(R"({"x":{)") + std::string(fields) + "}}";
  };
  const std::string four(4, '\0');
  for (
      const Case& c : {
          Case{"", "", "no JSON object"},
          Case{"[]", "", "no JSON object"},
          Case{" {}", "", "no JSON object"},
          Case{"{}\0{"s, "", "no JSON object"},
          Case{"{}}", "", "no JSON near"},
          Case{R"({"x":1})", "", "'x': a number where none belongs"},
          Case{R"({"x":null})", "", "'x': null where"},
          Case{R"({"x":[]})", "", "'x': a list where"},
          Case{R"({"__metadata__":{"a":1}})", "", "__metadata__: a number"},
          Case{R"({"__metadata__":{"a":"1","a":"2"}})", "", "'a' occurs twice"},
          Case{R"({"__metadata__":{},"__metadata__":{}})", "", "two entries"},
          Case{tensor(R"("dtype":"F32","shape":[1])"), four, "no data_offsets"},
          Case{tensor(R"("dtype":"F32","data_offsets":[0,4])"), four,
               "no shape"},
          Case{tensor(R"("shape":[1],"data_offsets":[0,4])"), four, "no dtype"},
          Case{tensor(R"("dtype":"F32","dtype":"F32")"), four,
               "'dtype' occurs twice"},
          Case{tensor(R"("strides":[1])"), four, "unknown field 'strides'"},
          Case{tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"),
               four, "a negative number"},
          Case{tensor(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"),
               four, "a fraction"},
          Case{tensor(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"),
               four, "a list"},
          Case{
              tensor(
                  R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4])"),
              four, "too large"},
          Case{
              tensor(
                  R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,4])"),
              four, ""},
          Case{
              tensor(
                  R"("dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,4])"),
              four, "2^62"},
          Case{tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"),
               four, "needs 8 bytes, not 4"},
          Case{tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"),
               four, "3 numbers"},
          Case{tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"),
               four, "do not fit the 4 bytes"},
          Case{tensor(R"("dtype":"F32","shape":[0],"data_offsets":[4,0])"),
               four, "begins at offset 4"},
          Case{tensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,0])"),
               four, "4 bytes of data belong to no tensor"},
          Case{tensor(R"("dtype":"BOOL","shape":[4],"data_offsets":[0,4])"),
               "\0\1\2\0"s, "no bool"},
          Case{
              R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"y":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
              "1", "begins at offset 0 where the data before it ends at 1"},
          Case{
              R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"y":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
              "123", "begins at offset 2"},
          Case{
              R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
              "12", "'x' is listed twice"},
      }) {
    const auto file = Read(File(c.header, c.data));
    ASSERT_FALSE(file.has_value()) << c.header;
    EXPECT_EQ(file.error().code, ErrorCode::kCorrupt) << c.header;
    EXPECT_THAT(file.error().message, HasSubstr(c.message)) << c.header;
  }
}

TEST(SafetensorsReaderTest, DTypesWithoutCounterpartAreNamed) {
  for (const std::string dtype : {"F8_E4M3", "F8_E5M2", "F4", "C128"}) {
    const auto file = Read(File(R"({"x":{"dtype":")" + dtype +
                                    R"(","shape":[1],"data_offsets":[0,1]}})",
                                "1"));
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(file.error().message, HasSubstr(dtype));
    EXPECT_THAT(file.error().message, HasSubstr("tensor 'x'"));
  }
}

TEST(SafetensorsReaderTest, HugeHeadersAreRefusedBeforeReading) {
  std::string file = SmallFile();
  file[7] = '\x7f';
  const auto result = Read(file);
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(result.error().message, HasSubstr("at most 100000000"));
}

TEST(SafetensorsReaderTest, EveryTruncationIsRefused) {
  const std::string file = SmallFile();
  testing_damage::ForEachTruncation(
      std::as_bytes(std::span(file)), [](const Copy& copy) {
        EXPECT_FALSE(ReadSafetensors(copy.bytes, copy.block).has_value());
      });
}

TEST(SafetensorsReaderTest, NoBitFlipReadsOutsideTheFile) {
  const std::string file = SmallFile();
  testing_damage::ForEachBitFlip(
      std::as_bytes(std::span(file)), [](const Copy& copy) {
        const auto result = ReadSafetensors(copy.bytes, copy.block);
        if (result) testing_damage::ExpectReadable(result->tensors);
      });
}

TEST(SafetensorsReaderTest, TensorsAndMetadataAreRead) {
  const auto file = Read(SmallFile());
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->metadata.at("a"), "b");
  ASSERT_EQ(file->tensors.size(), 2U);
  EXPECT_EQ(file->tensors[0].name, "x");
  EXPECT_EQ(file->tensors[0].tensor.shape(), (Shape{1, 2}));
  EXPECT_EQ(file->tensors[0].tensor.As<float>()[0], 1.0F);
  EXPECT_EQ(file->tensors[0].tensor.As<float>()[1], -2.0F);
  EXPECT_EQ(file->tensors[1].tensor.dtype(), DType::kBool);
  EXPECT_EQ(file->tensors[1].tensor.shape(), Shape{});
}

TEST(SafetensorsReaderTest, TensorsKeepTheHeadersOrderAndBorrow) {
  const std::string header =
      R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},)"
      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
      R"("none":{"dtype":"F32","shape":[3,0],"data_offsets":[1,1]}})";
  const std::string text = File(header, "AB");
  const auto file = ReadSafetensors(std::as_bytes(std::span(text)), nullptr);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors[0].name, "b");
  EXPECT_EQ(file->tensors[1].name, "a");
  EXPECT_EQ(static_cast<const void*>(file->tensors[0].tensor.bytes().data()),
            text.data() + text.size() - 1);
  EXPECT_EQ(file->tensors[2].tensor.shape(), (Shape{3, 0}));
}

TEST(SafetensorsReaderTest, EveryDTypeOfPyTorchsFileIsRead) {
  const auto file = ReadSafetensorsFile(
      PARITY_TEST_DATA "/checkpoints/dtypes.expected.safetensors");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->tensors.size(), 20U);
  EXPECT_EQ(FindTensor(file->tensors, "bf16")->dtype(), DType::kBFloat16);
  EXPECT_EQ(FindTensor(file->tensors, "scalar")->shape(), Shape{});
}

TEST(SafetensorsReaderTest, OtherFilesAreNamed) {
  const std::string path = PARITY_TEST_DATA "/checkpoints/dtypes_zip.pth";
  const auto file = ReadSafetensorsFile(path);
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().message,
            path + ": is a PyTorch checkpoint, not a safetensors file");
}

}  // namespace
}  // namespace parity
