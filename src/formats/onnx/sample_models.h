// Models and protobuf messages for the tests of this folder.
#ifndef PARITY_FORMATS_ONNX_SAMPLE_MODELS_H_
#define PARITY_FORMATS_ONNX_SAMPLE_MODELS_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/message_writer.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {

// tests/data/onnx
[[nodiscard]] std::filesystem::path DataFolder();
[[nodiscard]] std::string FileContent(const std::filesystem::path& path);
void WriteText(const std::filesystem::path& path, std::string_view content);

// A new, empty folder for the running test, deleted with this object.
class TestFolder {
 public:
  TestFolder();
  ~TestFolder();
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // Names of the files in it, sorted.
  [[nodiscard]] std::vector<std::string> Files() const;

 private:
  std::filesystem::path path_;
};

// Bytes 1, 2, 3, … of the right number; every dtype.
[[nodiscard]] Tensor CountingTensor(DType dtype, Shape shape);
inline constexpr int kDTypeCount = 15;

// y = x + w, w = [1, 2]: a file of few bytes.
[[nodiscard]] Model TinyModel();
// One initializer "w" of float32 of the given shape.
[[nodiscard]] Model ModelWithWeight(Shape shape);
// Every field, attribute type, dtype and kind of declared value there is.
[[nodiscard]] Model EverythingModel();

// A ModelProto of IR version 8 with the fields of `graph` and nothing else.
[[nodiscard]] std::string ModelBytes(const MessageWriter& graph);
// The same with one initializer.
[[nodiscard]] std::string ModelBytesWithInitializer(
    const MessageWriter& tensor);
// A TensorProto with name "w"; `data_type` is ONNX's number.
[[nodiscard]] MessageWriter TensorMessage(std::int32_t data_type,
                                          const Shape& shape);
// The same with external data; entries with an empty value are left out.
[[nodiscard]] MessageWriter ExternalTensorMessage(const Shape& shape,
                                                  std::string_view location,
                                                  std::string_view offset,
                                                  std::string_view length);

// Reads from a copy of `bytes` in a block of exactly their size, so that
// AddressSanitizer sees a byte too far.
[[nodiscard]] Result<Model> ReadBytes(std::string_view bytes);
// Calls `visit` for every tensor of the model, in graphs and attributes.
void ForEachTensor(const Model& model,
                   const std::function<void(const Tensor&)>& visit);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_SAMPLE_MODELS_H_
