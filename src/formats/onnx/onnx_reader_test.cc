#include "formats/onnx/onnx_reader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "formats/onnx/onnx_writer.h"

namespace parity {
namespace {

const std::filesystem::path kData =
    std::filesystem::path(PARITY_TEST_DATA) / "onnx";

std::string Content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(OnnxReaderTest, AFileOfThePyTorchExporterIsWrittenBackByteForByte) {
  for (const char* name : {"if_and_loop.onnx", "layer_norm.onnx"}) {
    SCOPED_TRACE(name);
    const auto model = ReadOnnxModel(kData / name);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(SerializeModel(*model), Content(kData / name));
  }
}

}  // namespace
}  // namespace parity
