// Writes ONNX models.
//
// Bytes are a function of the model alone. Weights go from their tensors
// straight to the file. Those of 1 KiB and more start at a multiple of 8 in the
// file (spaces in TensorProto.doc_string fill the gap), so that a reader can
// use them in place. Spec: docs/formats/onnx.md
#ifndef PARITY_FORMATS_ONNX_ONNX_WRITER_H_
#define PARITY_FORMATS_ONNX_ONNX_WRITER_H_

#include <cstdint>
#include <filesystem>
#include <string>

#include "graph/model.h"
#include "parity/error.h"

namespace parity {

struct WriteOptions {
  // Models above this size keep their weights of 1 KiB and more in "<file
  // name>.data" beside the model. The default is a little below protobuf's
  // limit of 2 GiB.
  std::int64_t external_data_threshold_bytes = 2'000'000'000;
};

// Appears under its name only when complete; the file with the weights appears
// first. Sparse and other encoded parts are written as they were read. Errors:
// kIo with the system's reason, naming the path; kUnsupported when the model is
// beyond 2 GiB even without its large weights, or has a tensor whose external
// data were not loaded.
[[nodiscard]] Status WriteOnnxModel(const Model& model,
                                    const std::filesystem::path& path,
                                    const WriteOptions& options = {});

// The bytes of a file with all weights inside.
[[nodiscard]] std::string SerializeModel(const Model& model);

}  // namespace parity

#endif  // PARITY_FORMATS_ONNX_ONNX_WRITER_H_
