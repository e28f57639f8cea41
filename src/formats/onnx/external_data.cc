#include "formats/onnx/external_data.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <memory>
#include <string>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

Status CheckLocation(const std::string& location) {
  if (location.empty())
    return Fail(ErrorCode::kCorrupt, "its external data has no location");
  // A path with a zero byte would be cut there by the system.
  bool inside = !location.contains('\0');
  const std::filesystem::path path(location);
  if (path.is_absolute()) inside = false;
  for (const std::filesystem::path& part : path) {
    if (part == "..") inside = false;
  }
  if (inside) return {};
  return Fail(ErrorCode::kCorrupt,
              std::format("its external data is in '{}', which is outside the "
                          "model's folder; such files are not opened",
                          location));
}

}  // namespace

Result<std::shared_ptr<const FileMapping>> ExternalFiles::Map(
    const std::string& location) {
  PARITY_RETURN_IF_ERROR(CheckLocation(location));
  std::shared_ptr<const FileMapping>& file = files_[location];
  if (file == nullptr) {
    auto opened = FileMapping::Open(folder_ / location);
    if (!opened)
      return std::unexpected(std::move(opened).error().In("external data"));
    file = *std::move(opened);
  }
  return file;
}

Result<Tensor> ExternalFiles::Read(DType dtype, Shape shape,
                                   const ExternalReference& reference) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(shape));
  if (count > INT64_MAX / ByteSize(dtype)) {
    return Fail(
        ErrorCode::kCorrupt,
        std::format("shape {} is too large for any memory", ToString(shape)));
  }
  const auto needed = static_cast<std::uint64_t>(count * ByteSize(dtype));
  if (const std::uint64_t length = reference.length.value_or(needed);
      length != needed) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} of shape {} needs {} bytes, its external data "
                            "in '{}' has length {}",
                            Name(dtype), ToString(shape), needed,
                            reference.location, length));
  }
  PARITY_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> file,
                          Map(reference.location));
  const std::size_t present = file->bytes().size();
  if (reference.offset > present || needed > present - reference.offset) {
    return Fail(
        ErrorCode::kCorrupt,
        std::format("needs {} bytes at offset {} of '{}', which has only {} "
                    "bytes (is the file complete?)",
                    needed, reference.offset, reference.location, present));
  }
  const auto bytes =
      file->bytes().subspan(static_cast<std::size_t>(reference.offset),
                            static_cast<std::size_t>(needed));
  return Tensor::Borrow(dtype, std::move(shape), bytes, file);
}

}  // namespace parity::onnx
