// Members looked at (N is any number, MACHINE this one):
//   package/package.json
//   package/bin/napi-vN/linux/MACHINE/libonnxruntime.so.1
//   package/bin/napi-vN/linux/MACHINE/libonnxruntime.so.1.20.1   the same file,
//                                      under its only name in older versions
//   package/bin/napi-vN/linux/MACHINE/libonnxruntime_providers_shared.so
#include "runtimes/package_archive.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/machine.h"

namespace parity {
namespace {

// Ten times the largest so far; more is an attack or another package.
constexpr std::int64_t kLargestLibrary = 1'000'000'000;
constexpr std::int64_t kLargestDescription = 1'000'000;
constexpr std::int64_t kLargestArchive = 10'000'000'000;  // unpacked

enum class Member : std::uint8_t {
  kOther,
  kDescription,
  kLibrary,
  kVersionedLibrary,
  kSharedProviders,
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Cuts `prefix` off, or leaves `text` alone.
bool Cut(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

Member MemberOf(std::string_view path) {
  if (path == "package/package.json") return Member::kDescription;
  if (!Cut(path, "package/bin/napi-v")) return Member::kOther;
  const auto end = std::ranges::find_if_not(path, IsDigit);
  if (end == path.begin()) return Member::kOther;
  path.remove_prefix(static_cast<std::size_t>(end - path.begin()));
  if (!Cut(path, std::format("/linux/{}/", kMachine))) return Member::kOther;
  if (path == kLibraryName) return Member::kLibrary;
  if (path == kSharedProvidersName) return Member::kSharedProviders;
  if (Cut(path, kLibraryName) && path.starts_with('.') &&
      std::ranges::all_of(path, [](char c) { return IsDigit(c) || c == '.'; }))
    return Member::kVersionedLibrary;
  return Member::kOther;
}

struct CloseArchive {
  void operator()(archive* opened) const { archive_read_free(opened); }
};

class Unpacker {
 public:
  Unpacker(std::string_view what, const std::filesystem::path& folder,
           const std::atomic<bool>* interrupted)
      : what_(what), folder_(folder), interrupted_(interrupted) {}

  Result<PackageContent> Unpack(std::span<const std::byte> bytes) {
    archive_read_support_filter_gzip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    if (archive_read_open_memory(archive_.get(), bytes.data(), bytes.size()) !=
        ARCHIVE_OK)
      return Damaged();
    while (true) {
      archive_entry* entry = nullptr;
      const int status = archive_read_next_header(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      if (status < ARCHIVE_WARN) return Damaged();
      PARITY_RETURN_IF_ERROR(Visit(*entry));
    }
    if (!has_library_) {
      return Fail(
          ErrorCode::kUnsupported,
          std::format("{} has no library for Linux on {}", what_, kMachine));
    }
    return Describe();
  }

 private:
  Status Visit(archive_entry& entry) {
    const std::int64_t size = archive_entry_size(&entry);
    total_ += std::max<std::int64_t>(size, 0);
    if (size < 0 || total_ > kLargestArchive) return TooLarge("it");
    const char* const path = archive_entry_pathname(&entry);
    // Links of either kind have no content of their own.
    if (path == nullptr || archive_entry_filetype(&entry) != AE_IFREG ||
        archive_entry_hardlink(&entry) != nullptr)
      return {};
    switch (MemberOf(path)) {
      case Member::kOther:
        return {};
      case Member::kDescription:
        if (size > kLargestDescription) return TooLarge(path);
        return Read([this](std::string_view text) -> Status {
          description_ += text;
          return {};
        });
      case Member::kSharedProviders:
        return Extract(path, size, kSharedProvidersName);
      case Member::kVersionedLibrary:
        if (has_library_) return {};
        [[fallthrough]];
      case Member::kLibrary:
        has_library_ = true;
        return Extract(path, size, kLibraryName);
    }
    return {};
  }

  Status Extract(std::string_view path, std::int64_t size,
                 std::string_view name) {
    if (size > kLargestLibrary) return TooLarge(path);
    PARITY_ASSIGN_OR_RETURN(AtomicFile file,
                            AtomicFile::Create(folder_ / name));
    PARITY_RETURN_IF_ERROR(
        Read([&file](std::string_view text) { return file.Write(text); }));
    return file.Commit();
  }

  // Gives the current member's content to `take`, block by block.
  template <class Take>
  Status Read(const Take& take) {
    std::string block(std::size_t{1} << 20, '\0');
    while (true) {
      if (interrupted_ != nullptr && *interrupted_)
        return Fail(ErrorCode::kInterrupted, "unpacking was interrupted");
      const la_ssize_t count =
          archive_read_data(archive_.get(), block.data(), block.size());
      if (count < 0) return Damaged();
      if (count == 0) return {};
      PARITY_RETURN_IF_ERROR(take(
          std::string_view(block).substr(0, static_cast<std::size_t>(count))));
    }
  }

  Result<PackageContent> Describe() const {
    using Json = nlohmann::json;
    const Json json = Json::parse(description_, nullptr, false);
    const auto text = [&json](const char* key) -> std::string {
      if (!json.is_object() || !json.contains(key) || !json[key].is_string())
        return "";
      return json[key].get<std::string>();
    };
    PackageContent content{.name = text("name"), .version = text("version")};
    if (content.name.empty() || content.version.empty()) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("{} is no npm package: its package.json names no "
                              "package and version",
                              what_));
    }
    return content;
  }

  [[nodiscard]] std::unexpected<Error> Damaged() const {
    const char* const reason = archive_error_string(archive_.get());
    return Fail(ErrorCode::kCorrupt,
                std::format("{} is no complete .tgz archive: {}", what_,
                            reason == nullptr ? "it cannot be read" : reason));
  }

  [[nodiscard]] std::unexpected<Error> TooLarge(std::string_view member) const {
    return Fail(
        ErrorCode::kCorrupt,
        std::format("{}: {} is larger than any runtime's package: refused",
                    what_, member));
  }

  std::string_view what_;
  const std::filesystem::path& folder_;
  const std::atomic<bool>* interrupted_;
  std::unique_ptr<archive, CloseArchive> archive_{archive_read_new()};
  std::int64_t total_ = 0;
  bool has_library_ = false;
  std::string description_;
};

}  // namespace

Result<PackageContent> UnpackRuntime(std::span<const std::byte> archive,
                                     std::string_view what,
                                     const std::filesystem::path& folder,
                                     const std::atomic<bool>* interrupted) {
  if (kMachine.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "there are no official builds of ONNX Runtime for this kind of "
                "machine; --runtime-library names one of your own");
  }
  return Unpacker(what, folder, interrupted).Unpack(archive);
}

}  // namespace parity
