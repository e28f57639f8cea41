#include "formats/onnx/onnx_reader.h"

#include <cstddef>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "formats/file_kind.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/model_decoder.h"
#include "formats/onnx/proto_text.h"
#include "formats/onnx/tensor_proto.h"
#include "graph/model.h"
#include "parity/error.h"

namespace parity {
namespace {

Status CheckIsModel(const onnx::ModelPresence& presence) {
  if (!presence.graph) {
    return Fail(ErrorCode::kCorrupt, "is not an ONNX model: it has no graph");
  }
  if (!presence.ir_version && !presence.opset_import) {
    return Fail(ErrorCode::kCorrupt,
                "is not an ONNX model: it has neither an IR version nor an "
                "operator set");
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
    return std::unexpected(
        ExplainWrongKind(std::move(model).error(), bytes, FileKind::kOnnx));
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
