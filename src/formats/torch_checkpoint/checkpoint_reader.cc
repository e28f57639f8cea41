#include "formats/torch_checkpoint/checkpoint_reader.h"

#include <cstddef>
#include <expected>
#include <filesystem>
#include <format>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/file_kind.h"
#include "formats/torch_checkpoint/checkpoint_formats.h"
#include "parity/error.h"

namespace parity {
namespace {

// Why a file of this kind is no checkpoint, and what to do with it.
Error NoCheckpoint(FileKind kind) {
  std::string_view advice;
  ErrorCode code = ErrorCode::kCorrupt;
  switch (kind) {
    case FileKind::kTorchScript:
      advice = ": give it with --torchscript";
      code = ErrorCode::kUnsupported;
      break;
    case FileKind::kTar:
      advice =
          " in a format this version reads; if PyTorch before 0.2 wrote it, "
          "load it there and save it again";
      code = ErrorCode::kUnsupported;
      break;
    case FileKind::kPickle:
      advice = ": it was not written by torch.save()";
      break;
    default:
      break;
  }
  return {.code = code,
          .message = std::format("is {}, not a PyTorch checkpoint{}",
                                 Describe(kind), advice)};
}

}  // namespace

Result<Checkpoint> ReadCheckpointBytes(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner) {
  const FileKind kind = SniffFileKind(file);
  switch (kind) {
    case FileKind::kTorchCheckpoint:
    case FileKind::kDamagedZip:  // the zip reader says what is damaged
      return ReadZipCheckpoint(file, owner);
    case FileKind::kLegacyTorchCheckpoint:
      return ReadLegacyCheckpoint(file, owner);
    default:
      return std::unexpected(NoCheckpoint(kind));
  }
}

Result<Checkpoint> ReadCheckpoint(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  Result<Checkpoint> checkpoint = ReadCheckpointBytes(file->bytes(), file);
  if (!checkpoint)
    return std::unexpected(std::move(checkpoint).error().In(path.string()));
  return checkpoint;
}

}  // namespace parity
