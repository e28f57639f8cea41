#include "backend/shared_tensors.h"

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/safetensors/safetensors_reader.h"
#include "formats/safetensors/safetensors_writer.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

Result<NamedTensors> MapTensors(int descriptor, std::string_view name,
                                MappingAccess access) {
  PARITY_ASSIGN_OR_RETURN(const auto mapping,
                          FileMapping::FromSealed(descriptor, name, access));
  auto file = ReadSafetensors(mapping->bytes(), mapping);
  if (!file) return std::unexpected(std::move(file).error().In(name));
  return std::move(file->tensors);
}

}  // namespace

Result<std::shared_ptr<const SharedTensors>> SharedTensors::Make(
    const NamedTensors& tensors, std::string_view name) {
  PARITY_ASSIGN_OR_RETURN(MemoryFile memory, MemoryFile::Create(name));
  PARITY_RETURN_IF_ERROR(WriteSafetensors(memory, tensors, {}));
  PARITY_ASSIGN_OR_RETURN(UniqueFd descriptor, std::move(memory).Seal());
  return Open(std::move(descriptor), name);
}

Result<std::shared_ptr<const SharedTensors>> SharedTensors::Open(
    UniqueFd descriptor, std::string_view name) {
  PARITY_ASSIGN_OR_RETURN(
      NamedTensors tensors,
      MapTensors(descriptor.get(), name, MappingAccess::kReadOnly));
  return std::shared_ptr<const SharedTensors>(new SharedTensors(
      std::move(descriptor), std::move(tensors), std::string(name)));
}

Result<NamedTensors> SharedTensors::CopyOnWrite() const {
  return MapTensors(descriptor_.get(), name_, MappingAccess::kCopyOnWrite);
}

}  // namespace parity
