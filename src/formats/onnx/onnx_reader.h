// Reads ONNX models: one protobuf message (ModelProto), weights inside it or in
// files beside it.
//
// The file is mapped, and weights stored as raw bytes stay in the mapping:
// reading costs no copy of them. Weights that are not aligned to their element
// size, and those in varint fields, are copied. What the in-memory model cannot
// hold (strings, float8, 4-bit and sparse tensors) is kept encoded, with a line
// in Model::warnings. Limits: graphs nest at most 64 deep; at most a million
// nodes, attributes, tensors and declared values. Spec: docs/formats/onnx.md
#ifndef PARITY_FORMATS_ONNX_ONNX_READER_H_
#define PARITY_FORMATS_ONNX_ONNX_READER_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "graph/model.h"
#include "parity/error.h"

namespace parity {

struct ReadOptions {
  // False: files beside the model are not opened; tensors stored there are
  // listed without values.
  bool load_external_data = true;
};

// Errors: kNotFound and kIo for the file; kCorrupt when it is no ONNX model
// (saying what it is where that shows), or an invalid one, or external data are
// missing bytes or outside the model's folder; kNotFound for external data
// files that do not exist. All name the file, and the tensor or node where
// there is one.
[[nodiscard]] Result<Model> ReadOnnxModel(const std::filesystem::path& path,
                                          const ReadOptions& options = {});

// The same from bytes, which stay valid as long as `owner` lives. External data
// are looked for in `folder_for_external_data`.
[[nodiscard]] Result<Model> ReadOnnxModel(
    std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
    const std::filesystem::path& folder_for_external_data,
    const ReadOptions& options = {});

}  // namespace parity

#endif  // PARITY_FORMATS_ONNX_ONNX_READER_H_
