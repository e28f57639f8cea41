#include "formats/onnx/onnx_test_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/sample_models.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecordedSet SampleSet() {
  return {.inputs = {{.name = "src",
                      .tensor = CountingTensor(DType::kFloat32, {1, 3})},
                     {.name = "bgr",
                      .tensor = CountingTensor(DType::kFloat16, {2})}},
          .outputs = {
              {.name = "pha", .tensor = CountingTensor(DType::kInt64, {})}}};
}

// A TensorProto of one float32, named `name` unless empty.
std::string TensorFile(std::string_view name) {
  MessageWriter tensor;
  tensor.AddInteger(kTensorDataType, 1);
  tensor.AddFloat(kTensorFloatData, 2);
  tensor.AddTextIfSet(kTensorName, name);
  return tensor.ToString();
}

TEST(OnnxTestDataTest, ASetComesBack) {
  const TestFolder folder;
  const RecordedSet written = SampleSet();
  ASSERT_TRUE(
      WriteTestDataSet(written, folder.path() / "test_data_set_0").has_value());
  const auto read = ReadTestDataSet(folder.path() / "test_data_set_0");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->inputs.size(), 2U);
  ASSERT_EQ(read->outputs.size(), 1U);
  EXPECT_EQ(read->inputs[1].name, "bgr");
  EXPECT_EQ(read->inputs[1].tensor.dtype(), DType::kFloat16);
  EXPECT_TRUE(std::ranges::equal(read->inputs[0].tensor.bytes(),
                                 written.inputs[0].tensor.bytes()));
  EXPECT_EQ(read->outputs[0].tensor.shape(), Shape{});
}

TEST(OnnxTestDataTest, FilesAreOrderedByNumberAndOthersIgnored) {
  const TestFolder folder;
  for (const char* name :
       {"input_10.pb", "input_2.pb", "input_0.pb", "output_0.pb"}) {
    WriteText(folder.path() / name, TensorFile(""));
  }
  for (const char* name :
       {"input_.pb", "input_x.pb", "input_1.txt", "input_-1.pb", "notes"}) {
    WriteText(folder.path() / name, "no tensor");
  }
  const auto set = ReadTestDataSet(folder.path());
  ASSERT_TRUE(set.has_value()) << set.error().message;
  ASSERT_EQ(set->inputs.size(), 3U);
  EXPECT_EQ(set->inputs[0].name, "input_0");
  EXPECT_EQ(set->inputs[1].name, "input_2");
  EXPECT_EQ(set->inputs[2].name, "input_10");
  EXPECT_EQ(set->outputs[0].name, "output_0");
  EXPECT_EQ(set->outputs[0].tensor.As<float>()[0], 2);
}

TEST(OnnxTestDataTest, FoldersWithoutASetAreErrors) {
  const TestFolder folder;
  for (const std::filesystem::path& path :
       {folder.path(), folder.path() / "nothing"}) {
    const auto set = ReadTestDataSet(path);
    ASSERT_FALSE(set.has_value());
    EXPECT_EQ(set.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(set.error().message, HasSubstr(path.string()));
  }
}

TEST(OnnxTestDataTest, FilesThatHoldNoTensorAreNamed) {
  MessageWriter sequence;
  sequence.AddInteger(2, 1);  // elem_type TENSOR
  sequence.AddText(3, TensorFile("a"));
  MessageWriter strings = TensorMessage(8, {1});
  strings.AddText(kTensorStringData, "text");
  struct Case {
    std::string bytes;
    ErrorCode code;
    const char* message;
  };
  for (const Case& c :
       {Case{sequence.ToString(), ErrorCode::kUnsupported, "holds a sequence"},
        Case{strings.ToString(), ErrorCode::kUnsupported,
             "tensors of string are not supported"},
        Case{"", ErrorCode::kCorrupt, "has no dtype"},
        Case{"\xFF", ErrorCode::kCorrupt, "not a valid ONNX tensor"},
        Case{"\x4A\x05tiny", ErrorCode::kCorrupt, "reaches beyond the end"}}) {
    const TestFolder folder;
    WriteText(folder.path() / "input_0.pb", c.bytes);
    const auto set = ReadTestDataSet(folder.path());
    ASSERT_FALSE(set.has_value()) << c.message;
    EXPECT_EQ(set.error().code, c.code);
    EXPECT_THAT(set.error().message,
                AllOf(HasSubstr("input_0.pb: "), HasSubstr(c.message)));
  }
}

TEST(OnnxTestDataTest, EveryTruncationIsATensorOrAnError) {
  const TestFolder folder;
  const std::string bytes = TensorFile("src");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    WriteText(folder.path() / "input_0.pb",
              std::string_view(bytes).substr(0, size));
    const auto tensor = ReadTensorProto(folder.path() / "input_0.pb");
    // Only the name, which comes last, may be missing.
    EXPECT_EQ(
        tensor.has_value(),
        size == bytes.size() - TensorFile("src").size() + TensorFile("").size())
        << size;
  }
}

TEST(OnnxTestDataTest, OneNameTwiceIsAnError) {
  const TestFolder folder;
  WriteText(folder.path() / "input_0.pb", TensorFile("x"));
  WriteText(folder.path() / "input_1.pb", TensorFile("x"));
  const auto set = ReadTestDataSet(folder.path());
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(set.error().message,
              AllOf(HasSubstr("input_1.pb"), HasSubstr("'x'")));
}

TEST(OnnxTestDataTest, FilesOfALargerSetAreNotMixedWithANewOne) {
  const TestFolder folder;
  WriteText(folder.path() / "input_2.pb", TensorFile("old"));
  const Status status = WriteTestDataSet(SampleSet(), folder.path());
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(status.error().message,
              HasSubstr("input_2.pb belongs to another set"));
  EXPECT_THAT(folder.Files(), ElementsAre("input_2.pb"));
  std::filesystem::remove(folder.path() / "input_2.pb");
  ASSERT_TRUE(WriteTestDataSet(SampleSet(), folder.path()).has_value());
  EXPECT_TRUE(
      WriteTestDataSet(SampleSet(), folder.path()).has_value());  // over itself
}

}  // namespace
}  // namespace parity::onnx
