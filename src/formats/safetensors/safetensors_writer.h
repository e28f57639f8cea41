// Writes safetensors: recordings, and the images worker processes pass around.
//
// The header lists the tensors in the caller's order and is padded so that the
// data starts at a multiple of 64. The format allows no holes in the data, so
// the tensors' bytes follow each other by descending element size: each is then
// aligned to its elements, and readers need not copy.
#ifndef PARITY_FORMATS_SAFETENSORS_SAFETENSORS_WRITER_H_
#define PARITY_FORMATS_SAFETENSORS_SAFETENSORS_WRITER_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Bytes that the functions below write.
[[nodiscard]] std::size_t SafetensorsSize(
    const NamedTensors& tensors,
    const std::map<std::string, std::string>& metadata);

// Fills `target`, which must be exactly SafetensorsSize() bytes. Errors:
// kInvalidArgument for another size, a name that occurs twice, is not UTF-8 or
// is "__metadata__"; kUnsupported for complex128, which the format lacks.
[[nodiscard]] Status WriteSafetensorsTo(
    std::span<std::byte> target, const NamedTensors& tensors,
    const std::map<std::string, std::string>& metadata);

// Appends to a file just created; the caller commits it. Errors: those above,
// and kIo.
[[nodiscard]] Status WriteSafetensors(
    AtomicFile& file, const NamedTensors& tensors,
    const std::map<std::string, std::string>& metadata);

// Appends to a memory file made with size 0. The same errors.
[[nodiscard]] Status WriteSafetensors(
    MemoryFile& file, const NamedTensors& tensors,
    const std::map<std::string, std::string>& metadata);

}  // namespace parity

#endif  // PARITY_FORMATS_SAFETENSORS_SAFETENSORS_WRITER_H_
