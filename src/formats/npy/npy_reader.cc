#include "formats/npy/npy_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/elements/elements.h"
#include "formats/file_kind.h"
#include "formats/npy/npy_header.h"
#include "formats/zip/zip_reader.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kExtension = ".npy";

Result<NpyHeader> TakeHeader(ByteReader& reader) {
  PARITY_ASSIGN_OR_RETURN(const auto magic, reader.Take(kMagic.size()));
  if (!std::ranges::equal(magic, std::as_bytes(std::span(kMagic)))) {
    return Fail(ErrorCode::kCorrupt,
                "is no .npy array: it does not begin with \\x93NUMPY");
  }
  PARITY_ASSIGN_OR_RETURN(const auto major, reader.Read<std::uint8_t>());
  PARITY_ASSIGN_OR_RETURN(const auto minor, reader.Read<std::uint8_t>());
  if (major < 1 || major > 3 || minor != 0) {
    return Fail(ErrorCode::kUnsupported,
                std::format(".npy version {}.{} is not known", major, minor));
  }
  std::uint64_t size = 0;
  if (major == 1) {
    PARITY_ASSIGN_OR_RETURN(size, reader.Read<std::uint16_t>());
  } else {
    PARITY_ASSIGN_OR_RETURN(size, reader.Read<std::uint32_t>());
  }
  PARITY_ASSIGN_OR_RETURN(const auto text, reader.Take(size));
  return ParseNpyHeader(
      {reinterpret_cast<const char*>(text.data()), text.size()});
}

// The elements are exactly the rest of the file.
Status CheckSize(const NpyHeader& header, std::size_t present) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(header.shape));
  const auto size = static_cast<std::uint64_t>(ByteSize(header.dtype));
  // The count alone may be 2^62.
  if (static_cast<std::uint64_t>(count) <= present / size &&
      static_cast<std::uint64_t>(count) * size == present) {
    return {};
  }
  return Fail(ErrorCode::kCorrupt,
              std::format("a {} array of shape {} does not have {} bytes of "
                          "elements: the file is truncated or damaged",
                          Name(header.dtype), ToString(header.shape), present));
}

// A row-major copy of elements stored with the first axis fastest.
Result<Tensor> FromFortran(const NpyHeader& header,
                           std::span<const std::byte> bytes) {
  std::vector<std::int64_t> strides;
  std::int64_t stride = 1;
  for (const std::int64_t axis : header.shape) {
    strides.push_back(stride);
    stride *= axis;
  }
  return Gather(header.dtype, {.shape = header.shape, .strides = strides},
                bytes);
}

}  // namespace

Result<Tensor> ReadNpy(std::span<const std::byte> file,
                       std::shared_ptr<const void> owner) {
  ByteReader reader(file);
  PARITY_ASSIGN_OR_RETURN(const NpyHeader header, TakeHeader(reader));
  PARITY_RETURN_IF_ERROR(CheckSize(header, reader.remaining()));
  PARITY_ASSIGN_OR_RETURN(const auto bytes, reader.Take(reader.remaining()));
  const bool transposed = header.fortran_order && header.shape.size() > 1;
  Tensor tensor;
  if (transposed && !bytes.empty()) {
    PARITY_ASSIGN_OR_RETURN(tensor, FromFortran(header, bytes));
  } else if (header.big_endian) {
    PARITY_ASSIGN_OR_RETURN(tensor,
                            Tensor::Copy(header.dtype, header.shape, bytes));
  } else {
    PARITY_ASSIGN_OR_RETURN(tensor, Tensor::Borrow(header.dtype, header.shape,
                                                   bytes, std::move(owner)));
  }
  if (header.big_endian && !bytes.empty())
    ReverseByteOrder(header.dtype, tensor.mutable_bytes());
  PARITY_RETURN_IF_ERROR(CheckBools(tensor.view()));
  return tensor;
}

Result<NamedTensors> ReadNpz(std::span<const std::byte> file,
                             std::shared_ptr<const void> owner) {
  PARITY_ASSIGN_OR_RETURN(const ZipReader zip,
                          ZipReader::Open(file, std::move(owner)));
  NamedTensors tensors;
  for (const ZipEntry& entry : zip.entries()) {
    std::string_view name = entry.name;
    if (!name.ends_with(kExtension)) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("{}: is no .npy array, so this is no .npz archive",
                      name));
    }
    name.remove_suffix(kExtension.size());
    PARITY_ASSIGN_OR_RETURN(ZipContent content, zip.Read(entry));
    Result<Tensor> tensor = ReadNpy(content.bytes, std::move(content.owner));
    if (!tensor)
      return std::unexpected(std::move(tensor).error().In(entry.name));
    tensors.push_back(
        {.name = std::string(name), .tensor = *std::move(tensor)});
  }
  return tensors;
}

Result<Tensor> ReadNpyFile(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  Result<Tensor> tensor = ReadNpy(file->bytes(), file);
  if (!tensor) {
    return std::unexpected(ExplainWrongKind(std::move(tensor).error(),
                                            file->bytes(), FileKind::kNpy)
                               .In(path.string()));
  }
  return tensor;
}

Result<NamedTensors> ReadNpzFile(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  Result<NamedTensors> tensors = ReadNpz(file->bytes(), file);
  if (!tensors) {
    return std::unexpected(ExplainWrongKind(std::move(tensors).error(),
                                            file->bytes(), FileKind::kNpz)
                               .In(path.string()));
  }
  return tensors;
}

}  // namespace parity
