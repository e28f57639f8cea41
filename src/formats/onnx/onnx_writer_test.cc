#include "formats/onnx/onnx_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>

#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/sample_models.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    text += std::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string WithoutSpaces(std::string_view text) {
  std::string without;
  for (const char character : text) {
    if (character != ' ') without += character;
  }
  return without;
}

TEST(OnnxWriterTest, BytesOfASmallModelArePinned) {
  const std::string node =
      "0a13 0a0178 0a0177 120179 1a03616464 2203416464";  // y = add(x, w)
  const std::string initializer =
      "2a11 0802 1001 420177 4a08 0000803f 00000040";  // [2] float w: 1, 2
  const std::string float_n_by_2 =
      "120f 0a0d 0801 1209 0a03 12016e 0a02 0802";  // type of x and y
  std::string expected = "0808 3a57";               // ir_version 8, graph
  expected += node + "120167" + initializer;        // name g after the nodes
  expected += "5a14 0a0178" + float_n_by_2;         // input x
  expected += "6214 0a0179" + float_n_by_2;         // output y
  expected += "4202 1011";                          // opset_import 17
  EXPECT_EQ(Hex(SerializeModel(TinyModel())), WithoutSpaces(expected));
}

TEST(OnnxWriterTest, AFileOfThePyTorchExporterIsWrittenBackByteForByte) {
  for (const char* name : {"if_and_loop.onnx", "layer_norm.onnx"}) {
    const auto model = ReadOnnxModel(DataFolder() / name);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(SerializeModel(*model), FileContent(DataFolder() / name)) << name;
  }
}

TEST(OnnxWriterTest, TheFileHasTheBytesOfSerializeModelEveryTime) {
  const TestFolder folder;
  const Model model = EverythingModel();
  for (const char* name : {"first.onnx", "second.onnx"}) {
    ASSERT_TRUE(WriteOnnxModel(model, folder.path() / name).has_value());
    EXPECT_EQ(FileContent(folder.path() / name), SerializeModel(model));
  }
  EXPECT_THAT(folder.Files(), ElementsAre("first.onnx", "second.onnx"));
}

TEST(OnnxWriterTest, LargeWeightsStartAtMultiplesOfEight) {
  // Lengths and names of all remainders, and sizes around the borders of the
  // graph's length.
  for (int pad = 0; pad < 16; ++pad) {
    for (const std::int64_t count :
         {256, 257, 3600, 4090, 4091, 4092, 4093, 4094, 523900, 524280}) {
      Model model = ModelWithWeight({count});
      model.graph.name = std::string(static_cast<std::size_t>(pad), 'n');
      model.graph.initializers.push_back(
          {.name = "v", .tensor = CountingTensor(DType::kFloat32, {300})});
      const std::string bytes = SerializeModel(model);
      for (const Initializer& initializer : model.graph.initializers) {
        const auto values = initializer.tensor.bytes();
        const std::size_t position = bytes.find(std::string_view(
            reinterpret_cast<const char*>(values.data()), values.size()));
        ASSERT_NE(position, std::string::npos);
        EXPECT_EQ(position % 8, 0U)
            << "name of " << pad << " letters, weight of " << count
            << " elements";
      }
      EXPECT_TRUE(ReadBytes(bytes).has_value());
    }
  }
}

TEST(OnnxWriterTest, AboveTheThresholdLargeWeightsGoToAFileBesideTheModel) {
  const TestFolder folder;
  const std::filesystem::path path = folder.path() / "big.onnx";
  const Model model = EverythingModel();
  ASSERT_TRUE(WriteOnnxModel(model, path, {.external_data_threshold_bytes = 0})
                  .has_value());
  EXPECT_THAT(folder.Files(), ElementsAre("big.onnx", "big.onnx.data"));
  // w_large at 0 with 7000 bytes, w_last at the next multiple of 4096 with
  // 1024.
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "big.onnx.data"),
            8192 + 1024);
  const auto read = ReadOnnxModel(path);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(SerializeModel(*read), SerializeModel(model));
}

TEST(OnnxWriterTest, TheThresholdIsTheLargestSizeThatStaysInOneFile) {
  const TestFolder folder;
  const Model model = ModelWithWeight({1000});
  const auto size = static_cast<std::int64_t>(SerializeModel(model).size());
  ASSERT_TRUE(WriteOnnxModel(model, folder.path() / "one.onnx",
                             {.external_data_threshold_bytes = size})
                  .has_value());
  EXPECT_THAT(folder.Files(), ElementsAre("one.onnx"));
  ASSERT_TRUE(WriteOnnxModel(model, folder.path() / "two.onnx",
                             {.external_data_threshold_bytes = size - 1})
                  .has_value());
  EXPECT_THAT(folder.Files(),
              ElementsAre("one.onnx", "two.onnx", "two.onnx.data"));
}

TEST(OnnxWriterTest, SmallWeightsNeverGoToAnotherFile) {
  const TestFolder folder;
  ASSERT_TRUE(WriteOnnxModel(TinyModel(), folder.path() / "tiny.onnx",
                             {.external_data_threshold_bytes = 0})
                  .has_value());
  EXPECT_THAT(folder.Files(), ElementsAre("tiny.onnx"));
}

TEST(OnnxWriterTest, AModelCanBeWrittenOverTheFileItWasReadFrom) {
  const TestFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const WriteOptions outside{.external_data_threshold_bytes = 0};
  ASSERT_TRUE(WriteOnnxModel(EverythingModel(), path, outside).has_value());
  const auto model = ReadOnnxModel(path);
  ASSERT_TRUE(model.has_value());
  ASSERT_TRUE(WriteOnnxModel(*model, path, outside).has_value());
  const auto again = ReadOnnxModel(path);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(SerializeModel(*again), SerializeModel(EverythingModel()));
}

// Lets no file grow beyond `bytes` while it lives: writes fail in the middle,
// as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    previous_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &previous_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = previous_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &previous_);
    ::signal(SIGXFSZ, previous_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit previous_{};
  void (*previous_handler_)(int) = SIG_DFL;
};

TEST(OnnxWriterTest, AFailureInTheMiddleLeavesTheOldFiles) {
  for (const std::int64_t threshold :
       {std::int64_t{0}, WriteOptions().external_data_threshold_bytes}) {
    const TestFolder folder;
    const std::filesystem::path path = folder.path() / "model.onnx";
    WriteText(path, "old model");
    WriteText(folder.path() / "model.onnx.data", "old data");
    const Model model = ModelWithWeight({100'000});
    Status status;
    {
      const FileSizeLimit limit(50'000);
      status = WriteOnnxModel(model, path,
                              {.external_data_threshold_bytes = threshold});
    }
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
    EXPECT_THAT(status.error().message, HasSubstr(path.string()));
    EXPECT_EQ(FileContent(path), "old model");
    EXPECT_EQ(FileContent(folder.path() / "model.onnx.data"), "old data");
    EXPECT_THAT(folder.Files(), ElementsAre("model.onnx", "model.onnx.data"));
  }
}

TEST(OnnxWriterTest, AFolderThatDoesNotExistIsAnError) {
  const TestFolder folder;
  const Status status =
      WriteOnnxModel(TinyModel(), folder.path() / "nowhere" / "model.onnx");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kIo);
  EXPECT_THAT(folder.Files(), IsEmpty());
}

}  // namespace
}  // namespace parity::onnx
