// Weights that stand in files beside the model.
#ifndef PARITY_FORMATS_ONNX_EXTERNAL_DATA_H_
#define PARITY_FORMATS_ONNX_EXTERNAL_DATA_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/file_mapping.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {

// The entries of TensorProto.external_data; a checksum is ignored.
struct ExternalReference {
  std::string location;  // relative to the model's folder
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

// The external data files of one model. Each is mapped once, when first needed,
// and shared by the tensors that borrow from it.
class ExternalFiles {
 public:
  // `folder` is the model's.
  explicit ExternalFiles(std::filesystem::path folder)
      : folder_(std::move(folder)) {}

  // The tensor at `reference`, borrowed from the file's mapping when aligned.
  // Errors: kCorrupt when the location is absolute or leads out of the folder,
  // when the length is not the tensor's, or when the file ends before the
  // tensor does; kNotFound and kIo as FileMapping::Open(). Symbolic links are
  // followed: model caches are made of them.
  [[nodiscard]] Result<Tensor> Read(DType dtype, Shape shape,
                                    const ExternalReference& reference);

 private:
  [[nodiscard]] Result<std::shared_ptr<const FileMapping>> Map(
      const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const FileMapping>> files_;
};

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_EXTERNAL_DATA_H_
