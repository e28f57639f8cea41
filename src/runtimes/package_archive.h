// The package onnxruntime-node as its registry serves it: a gzipped tar archive
// with the libraries of every platform.
#ifndef PARITY_RUNTIMES_PACKAGE_ARCHIVE_H_
#define PARITY_RUNTIMES_PACKAGE_ARCHIVE_H_

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity {

inline constexpr std::string_view kPackageName = "onnxruntime-node";
// The names in a folder, whatever the archive calls them.
inline constexpr std::string_view kLibraryName = "libonnxruntime.so.1";
inline constexpr std::string_view kSharedProvidersName =
    "libonnxruntime_providers_shared.so";

struct PackageContent {
  std::string name;     // of its package.json
  std::string version;  // of its package.json
};

// Puts this machine's library, and the one that providers share where there is
// one, into `folder`; nothing else of the archive is written. Its members are
// wanted by their whole names, so none can lead elsewhere.
// Errors: kCorrupt for damaged archives, kUnsupported when it has no library
// for this machine, kIo when `folder` cannot be written (all naming `what`),
// kInterrupted.
[[nodiscard]] Result<PackageContent> UnpackRuntime(
    std::span<const std::byte> archive, std::string_view what,
    const std::filesystem::path& folder,
    const std::atomic<bool>* interrupted = nullptr);

}  // namespace parity

#endif  // PARITY_RUNTIMES_PACKAGE_ARCHIVE_H_
