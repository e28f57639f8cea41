// What a file is, by its content: for messages about the wrong file.
#ifndef PARITY_FORMATS_FILE_KIND_H_
#define PARITY_FORMATS_FILE_KIND_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "parity/error.h"

namespace parity {

enum class FileKind : std::uint8_t {
  kEmpty,
  kOnnx,        // an ONNX ModelProto
  kOnnxTensor,  // an ONNX TensorProto, as in test_data_set_N folders
  kSafetensors,
  kNpy,
  kNpz,
  kTorchCheckpoint,        // a zip archive of torch.save()
  kLegacyTorchCheckpoint,  // the format of torch.save() before PyTorch 1.6
  kTorchScript,
  kPng,
  kJpeg,
  kZip,         // any other zip archive
  kDamagedZip,  // begins like a zip archive, but has no readable directory
  kTar,
  kPickle,  // a Python pickle that torch.save() did not make
  kGitLfsPointer,
  kHtml,
  kText,
  kUnknown,
};

// Looks at the first bytes, and at the directory of a zip archive. Truncated
// files are recognised where their beginning is enough. ONNX files carry no
// magic number: their first protobuf fields must be a model's or a tensor's.
[[nodiscard]] FileKind SniffFileKind(std::span<const std::byte> bytes);

// With an article, to follow "is": "a TorchScript archive".
[[nodiscard]] std::string_view Describe(FileKind kind);

// The error of a reader that expected `wanted`, made more useful where the
// bytes are recognisably something else: "is a PNG image, not a safetensors
// file".
[[nodiscard]] Error ExplainWrongKind(Error error,
                                     std::span<const std::byte> bytes,
                                     FileKind wanted);

}  // namespace parity

#endif  // PARITY_FORMATS_FILE_KIND_H_
