#include "diagnose/repro_folder.h"

#include <unistd.h>

#include <expected>
#include <filesystem>
#include <format>
#include <system_error>
#include <utility>

#include "parity/error.h"

namespace parity {
namespace {

std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& path) {
  return path.filename().empty() ? path.parent_path() : path;
}

// Nothing there, or an empty folder.
Status CheckFree(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {};
  if (!std::filesystem::is_directory(status)) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("--repro {}: is not a folder", path.string()));
  }
  const bool empty = std::filesystem::is_empty(path, error);
  if (error) {
    return Fail(ErrorCode::kIo,
                std::format("--repro {}: {}", path.string(), error.message()));
  }
  if (!empty) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("--repro {}: the folder is not empty; name another "
                            "one, or delete it",
                            path.string()));
  }
  return {};
}

}  // namespace

Result<ReproFolder> ReproFolder::Create(const std::filesystem::path& path) {
  std::filesystem::path target = WithoutTrailingSlash(path);
  if (const Status free = CheckFree(target); !free)
    return std::unexpected(free.error());
  std::error_code error;
  // What a link leads to is replaced, not the link.
  if (std::filesystem::exists(target, error))
    target = std::filesystem::canonical(target, error);
  // A killed process of the same number may have left one behind.
  constexpr int kMostLeftovers = 100;
  for (int i = 0; i < kMostLeftovers; ++i) {
    std::filesystem::path partial = target;
    partial += std::format(".partial-{}", ::getpid());
    if (i > 0) partial += std::format("-{}", i);
    if (std::filesystem::create_directory(partial, error))
      return ReproFolder(std::move(target), std::move(partial));
    if (error) break;
  }
  return Fail(
      ErrorCode::kIo,
      std::format("--repro {}: cannot make the folder: {}", path.string(),
                  error ? error.message() : "leftovers beside it"));
}

ReproFolder::~ReproFolder() {
  std::error_code ignored;
  if (!partial_.empty()) std::filesystem::remove_all(partial_, ignored);
}

Status ReproFolder::Commit() {
  std::error_code error;
  std::filesystem::rename(partial_, path_, error);
  if (error) {
    return Fail(ErrorCode::kIo, std::format("cannot write the folder {}: {}",
                                            path_.string(), error.message()));
  }
  partial_.clear();
  return {};
}

}  // namespace parity
