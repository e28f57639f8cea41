// Reads NumPy arrays: .npy files (versions 1 to 3) and .npz archives of them.
//
// npy := "\x93NUMPY", u8 major, u8 minor, header size (u16le in version 1,
//        u32le after), header (npy_header.h), elements
// npz := a zip archive of entries "<name>.npy"
//
// Specification: docs/formats/npy.md.
#ifndef PARITY_FORMATS_NPY_NPY_READER_H_
#define PARITY_FORMATS_NPY_NPY_READER_H_

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// Borrows aligned little-endian C-order elements from `file`, which `owner`
// keeps alive; other layouts are converted into a copy. Errors: kCorrupt, bytes
// missing or left over included; kUnsupported as ParseNpyHeader().
[[nodiscard]] Result<Tensor> ReadNpy(std::span<const std::byte> file,
                                     std::shared_ptr<const void> owner);

// The arrays of an archive in its order, named without ".npy". Errors: those of
// ReadNpy() and ZipReader, naming the entry; kCorrupt for other entries.
[[nodiscard]] Result<NamedTensors> ReadNpz(std::span<const std::byte> file,
                                           std::shared_ptr<const void> owner);

// The same for mapped files. Errors carry the path, and say what the file is
// instead where that is recognisable.
[[nodiscard]] Result<Tensor> ReadNpyFile(const std::filesystem::path& path);
[[nodiscard]] Result<NamedTensors> ReadNpzFile(
    const std::filesystem::path& path);

}  // namespace parity

#endif  // PARITY_FORMATS_NPY_NPY_READER_H_
