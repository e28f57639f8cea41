#include "formats/onnx/onnx_reader.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/model_decoder.h"
#include "formats/onnx/tensor_proto.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

// What files that are given instead of an ONNX model begin with. None of these
// is the beginning of a ModelProto that any exporter writes.
struct ForeignKind {
  std::size_t offset;
  std::string_view magic;
  std::string_view description;
};
constexpr std::array kForeignKinds = {
    ForeignKind{
        0, "version https://git-lfs",
        "a Git LFS pointer; fetch the file it stands for with 'git lfs pull'"},
    ForeignKind{0, "PK\x03\x04",
                "a zip archive, such as a PyTorch checkpoint, a TorchScript "
                "file or npz"},
    ForeignKind{0, "\x80\x02", "a pickle, such as an old PyTorch checkpoint"},
    ForeignKind{0, "\x93NUMPY", "a NumPy array"},
    ForeignKind{0, "\x89HDF", "an HDF5 file"},
    ForeignKind{0, "\x89PNG", "a PNG image"},
    ForeignKind{0, "\xFF\xD8\xFF", "a JPEG image"},
    ForeignKind{0, "\x1F\x8B", "a gzip archive; decompress it first"},
    ForeignKind{0,
                "\x7F"
                "ELF",
                "a program or library"},
    ForeignKind{0, "<", "HTML or XML text; the download probably failed"},
    ForeignKind{0, "{", "JSON text"},
    ForeignKind{4, "ORTM", "an ONNX Runtime (.ort) file"},
    ForeignKind{4, "TFL3", "a TensorFlow Lite file"},
    ForeignKind{8, "{", "a safetensors file"},
};

// Empty when nothing is recognised.
std::string_view ForeignDescription(std::string_view bytes) {
  if (bytes.empty()) return "empty";
  for (const ForeignKind& kind : kForeignKinds) {
    if (bytes.size() >= kind.offset &&
        bytes.substr(kind.offset).starts_with(kind.magic))
      return kind.description;
  }
  return {};
}

Status CheckIsModel(const onnx::ModelPresence& presence) {
  if (!presence.graph) {
    return Fail(ErrorCode::kCorrupt, "not an ONNX model: it has no graph");
  }
  if (!presence.ir_version && !presence.opset_import) {
    return Fail(
        ErrorCode::kCorrupt,
        "not an ONNX model: it has neither an IR version nor an operator set");
  }
  return {};
}

// Names in messages come from the file.
Result<Model> WithPrintableMessages(Result<Model> model) {
  if (!model) return Fail(model.error().code, Printable(model.error().message));
  for (std::string& warning : model->warnings) warning = Printable(warning);
  return model;
}

Result<Model> Decode(std::string_view message, onnx::TensorSource source) {
  onnx::ModelPresence presence;
  try {
    Result<Model> model =
        onnx::ModelDecoder(std::move(source)).DecodeModel(message, &presence);
    if (model.has_value()) PARITY_RETURN_IF_ERROR(CheckIsModel(presence));
    return WithPrintableMessages(std::move(model));
  } catch (...) {
    return std::unexpected(onnx::ErrorOfCaughtException("ONNX model"));
  }
}

}  // namespace

Result<Model> ReadOnnxModel(
    std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
    const std::filesystem::path& folder_for_external_data,
    const ReadOptions& options) {
  const std::string_view message(reinterpret_cast<const char*>(bytes.data()),
                                 bytes.size());
  onnx::ExternalFiles external(folder_for_external_data);
  Result<Model> model = Decode(
      message, {.owner = std::move(owner),
                .external = options.load_external_data ? &external : nullptr});
  if (!model && model.error().code == ErrorCode::kCorrupt) {
    if (const std::string_view kind = ForeignDescription(message);
        !kind.empty()) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("not an ONNX model: it is {}", kind));
    }
  }
  return model;
}

Result<Model> ReadOnnxModel(const std::filesystem::path& path,
                            const ReadOptions& options) {
  PARITY_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> file,
                          FileMapping::Open(path));
  Result<Model> model =
      ReadOnnxModel(file->bytes(), file, path.parent_path(), options);
  if (!model)
    return std::unexpected(std::move(model).error().In(path.string()));
  return model;
}

}  // namespace parity
