// Weights in files beside the model, read through whole models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "formats/onnx/sample_models.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A folder with a model whose one weight, two float32, stands in another file.
class ExternalDataTest : public ::testing::Test {
 protected:
  Result<Model> Read(const MessageWriter& tensor,
                     const ReadOptions& options = {}) {
    WriteText(model_path(), ModelBytesWithInitializer(tensor));
    return ReadOnnxModel(model_path(), options);
  }
  [[nodiscard]] std::filesystem::path model_path() const {
    return folder_.path() / "model.onnx";
  }

  TestFolder folder_;
};

TEST_F(ExternalDataTest, TheTensorIsBorrowedFromItsFile) {
  WriteText(folder_.path() / "weights.bin", "....abcdefgh");
  const auto model = Read(ExternalTensorMessage({2}, "weights.bin", "4", "8"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Tensor& tensor = model->graph.initializers.front().tensor;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor.bytes().data()),
                        tensor.bytes().size()),
            "abcdefgh");
}

TEST_F(ExternalDataTest, OffsetAndLengthAreOptionalAndFoldersAreAllowed) {
  std::filesystem::create_directories(folder_.path() / "deep");
  WriteText(folder_.path() / "deep" / "weights.bin", "abcdefgh and more");
  EXPECT_TRUE(
      Read(ExternalTensorMessage({2}, "deep/weights.bin", "", "")).has_value());
  EXPECT_TRUE(Read(ExternalTensorMessage({2}, "./deep/weights.bin", "", ""))
                  .has_value());
}

TEST_F(ExternalDataTest, OneFileIsMappedOnceForAllItsTensors) {
  WriteText(folder_.path() / "weights.bin", "abcdefgh");
  MessageWriter graph;
  graph.AddMessage(kGraphInitializer,
                   ExternalTensorMessage({1}, "weights.bin", "0", "4"));
  graph.AddMessage(kGraphInitializer,
                   ExternalTensorMessage({1}, "weights.bin", "4", "4"));
  WriteText(model_path(), ModelBytes(graph));
  const auto model = ReadOnnxModel(model_path());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->graph.initializers[0].tensor.bytes().data() + 4,
            model->graph.initializers[1].tensor.bytes().data());
}

TEST_F(ExternalDataTest, AMissingFileNamesTensorAndFile) {
  const auto model = Read(ExternalTensorMessage({2}, "weights.bin", "", ""));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(
      model.error().message,
      AllOf(HasSubstr(model_path().string() + ": tensor 'w': external data"),
            HasSubstr((folder_.path() / "weights.bin").string()),
            HasSubstr("No such file")));
}

TEST_F(ExternalDataTest, ATruncatedFileNamesNeededAndPresentBytes) {
  WriteText(folder_.path() / "weights.bin", "abcdefg");
  struct Case {
    const char* offset;
    const char* message;
  };
  for (const Case& c :
       {Case{"0",
             "needs 8 bytes at offset 0 of 'weights.bin', which has only 7 "
             "bytes"},
        Case{"7",
             "needs 8 bytes at offset 7 of 'weights.bin', which has only 7 "
             "bytes"},
        Case{"8", "needs 8 bytes at offset 8 of"},
        Case{"18446744073709551615",
             "needs 8 bytes at offset 18446744073709551615 of"}}) {
    const auto model =
        Read(ExternalTensorMessage({2}, "weights.bin", c.offset, ""));
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(model.error().message,
                AllOf(HasSubstr("tensor 'w': "), HasSubstr(c.message)));
  }
}

TEST_F(ExternalDataTest, PathsOutsideTheFolderAreNotOpened) {
  const std::filesystem::path inner = folder_.path() / "inner";
  std::filesystem::create_directories(inner);
  WriteText(folder_.path() / "secret.bin", "abcdefgh");
  const std::vector<std::string> locations = {
      "../secret.bin",
      "inner/../../secret.bin",
      "..",
      (folder_.path() / "secret.bin").string(),
      std::string("secret.bin\0.txt", 15),
      "/etc/passwd"};
  for (const std::string& location : locations) {
    WriteText(inner / "model.onnx",
              ModelBytesWithInitializer(
                  ExternalTensorMessage({2}, location, "", "")));
    const auto model = ReadOnnxModel(inner / "model.onnx");
    ASSERT_FALSE(model.has_value()) << location;
    EXPECT_EQ(model.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(model.error().message, HasSubstr("outside the model's folder"));
  }
}

TEST_F(ExternalDataTest, ReferencesThatMakeNoSenseAreErrors) {
  WriteText(folder_.path() / "weights.bin", "abcdefgh");
  struct Case {
    const char* location;
    const char* offset;
    const char* length;
    const char* message;
  };
  for (const Case& c :
       {Case{"", "0", "8", "has no location"},
        Case{"weights.bin", "-1", "8", "has offset '-1', not a number"},
        Case{"weights.bin", "0", "8 bytes",
             "has length '8 bytes', not a number"},
        Case{"weights.bin", "0", "7",
             "needs 8 bytes, its external data in 'weights.bin' has length 7"},
        Case{".", "0", "8", "is a folder"}}) {
    const auto model =
        Read(ExternalTensorMessage({2}, c.location, c.offset, c.length));
    ASSERT_FALSE(model.has_value()) << c.message;
    EXPECT_THAT(model.error().message, HasSubstr(c.message));
  }
  const auto huge =
      Read(ExternalTensorMessage({1 << 30, 1 << 30}, "weights.bin", "", ""));
  ASSERT_FALSE(huge.has_value());
  EXPECT_THAT(huge.error().message,
              HasSubstr("needs 4611686018427387904 bytes"));
}

TEST_F(ExternalDataTest, WithoutLoadingTheTensorIsListedButCannotBeWritten) {
  const auto model = Read(ExternalTensorMessage({2}, "weights.bin", "", ""),
                          {.load_external_data = false});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Initializer& initializer = model->graph.initializers.front();
  const EncodedTensor encoded = initializer.encoded.value_or(EncodedTensor());
  EXPECT_EQ(encoded.dtype, "float32");
  EXPECT_EQ(encoded.shape, Shape{2});
  EXPECT_EQ(encoded.location, "weights.bin");
  const Status written = WriteOnnxModel(*model, folder_.path() / "copy.onnx");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(written.error().message, HasSubstr("'w' stand in another file"));
}

}  // namespace
}  // namespace parity::onnx
