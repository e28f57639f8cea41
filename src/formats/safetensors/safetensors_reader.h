// Reads safetensors: files of the Hugging Face library, and the images that
// worker processes pass around.
//
// file   := u64le header_size, header_size bytes of JSON, data
// header := {name: {"dtype": …, "shape": […], "data_offsets": [begin, end]}, …,
//            "__metadata__": {text: text, …}}, padded with spaces
//
// header_size ≤ 100 MB; offsets are relative to the data; the tensors cover the
// data without holes or overlaps. Specification: docs/formats/safetensors.md.
#ifndef PARITY_FORMATS_SAFETENSORS_SAFETENSORS_READER_H_
#define PARITY_FORMATS_SAFETENSORS_SAFETENSORS_READER_H_

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct SafetensorsFile {
  NamedTensors tensors;  // in the order of the header
  std::map<std::string, std::string> metadata;
};

// Borrows: tensors point into `file`, which `owner` keeps alive; only tensors
// not aligned to their element size are copied. Cost: the header, and one pass
// over bool tensors. Errors: kCorrupt; kUnsupported for dtypes that have no
// DType (8-bit and smaller floats), by name.
[[nodiscard]] Result<SafetensorsFile> ReadSafetensors(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner);

// The same for a mapped file. Errors carry the path, and say what the file is
// instead where that is recognisable.
[[nodiscard]] Result<SafetensorsFile> ReadSafetensorsFile(
    const std::filesystem::path& path);

}  // namespace parity

#endif  // PARITY_FORMATS_SAFETENSORS_SAFETENSORS_READER_H_
