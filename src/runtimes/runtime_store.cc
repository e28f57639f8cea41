#include "runtimes/runtime_store.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/machine.h"
#include "runtimes/npm_client.h"
#include "runtimes/package_archive.h"
#include "runtimes/package_integrity.h"
#include "runtimes/runtime_version.h"
#include "runtimes/store_lock.h"
#include "runtimes/stored_runtime.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialPrefix = ".partial-";

std::string FolderSuffix() { return std::format("-linux-{}", kMachine); }

std::unexpected<Error> IoError(std::string_view what, const fs::path& path,
                               const std::error_code& error) {
  return Fail(ErrorCode::kIo, std::format("cannot {} {}: {}", what,
                                          path.string(), error.message()));
}

// The folder a runtime is made in; removed with this object, its content
// included, unless it was moved to its place.
class PartialFolder {
 public:
  // `store` is locked: every partial folder in it was left behind.
  static Result<PartialFolder> Create(const fs::path& store) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(store, error)) {
      if (entry.path().filename().string().starts_with(kPartialPrefix))
        fs::remove_all(entry.path(), error);
    }
    fs::path path = store / std::format("{}{}", kPartialPrefix, ::getpid());
    fs::create_directory(path, error);
    if (error) return IoError("make the folder", path, error);
    return PartialFolder(std::move(path));
  }
  PartialFolder(PartialFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})) {}
  PartialFolder& operator=(PartialFolder&&) = delete;
  ~PartialFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  // What is in `place` goes.
  Status MoveTo(const fs::path& place) {
    std::error_code error;
    if (fs::exists(place, error)) {
      fs::path old = path_;
      old += "-old";
      fs::rename(place, old, error);
      if (error) return IoError("replace", place, error);
      fs::remove_all(old, error);
    }
    fs::rename(path_, place, error);
    if (error) return IoError("make", place, error);
    path_.clear();
    return {};
  }

 private:
  explicit PartialFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

void Tell(const AddRequest& request, std::string_view text) {
  if (request.progress) request.progress(text);
}

std::string Now() {
  return std::format("{:%FT%T}Z", std::chrono::floor<std::chrono::seconds>(
                                      std::chrono::system_clock::now()));
}

// "1.20.1" and "latest" made sure of. Empty stays empty.
Result<std::string> WantedVersion(const AddRequest& request) {
  std::string version = request.version;
  if (version.empty()) {
    if (!request.package.empty()) return version;
    return Fail(ErrorCode::kInvalidArgument, "no version is named");
  }
  if (version == "latest" && request.package.empty()) {
    Tell(request, "asking for the latest version");
    PARITY_ASSIGN_OR_RETURN(version,
                            NpmClient(request.interrupted).LatestVersion());
  }
  PARITY_ASSIGN_OR_RETURN(const RuntimeVersion parsed,
                          ParseRuntimeVersion(version));
  PARITY_RETURN_IF_ERROR(CheckUsable(parsed));
  return version;
}

struct Package {
  fs::path file;
  std::string integrity;  // promised; empty: by nobody
};

Result<Package> FetchPackage(const AddRequest& request,
                             const fs::path& folder) {
  if (!request.package.empty())
    return Package{.file = request.package, .integrity = request.integrity};
  const NpmClient npm(request.interrupted);
  Tell(request, std::format("looking up {} {}", kPackageName, request.version));
  PARITY_ASSIGN_OR_RETURN(std::string integrity,
                          npm.Integrity(request.version));
  Tell(request, std::format("fetching {} {}", kPackageName, request.version));
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return IoError("make the folder", folder, error);
  PARITY_ASSIGN_OR_RETURN(fs::path file, npm.Download(request.version, folder));
  return Package{.file = std::move(file), .integrity = std::move(integrity)};
}

// The version that the package says it is, once that is the one wanted.
Status CheckContent(const PackageContent& content, const AddRequest& request,
                    std::string_view what) {
  if (content.name != kPackageName) {
    return Fail(ErrorCode::kIncompatible,
                std::format("{} is the package {}, not {}", what, content.name,
                            kPackageName));
  }
  if (!request.version.empty() && content.version != request.version) {
    return Fail(ErrorCode::kIncompatible,
                std::format("{} is version {}, not {}", what, content.version,
                            request.version));
  }
  PARITY_ASSIGN_OR_RETURN(const RuntimeVersion version,
                          ParseRuntimeVersion(content.version));
  return CheckUsable(version);
}

}  // namespace

RuntimeStore::RuntimeStore(const fs::path& cache_folder)
    : folder_(cache_folder / "runtimes") {}

fs::path RuntimeStore::FolderOf(std::string_view version) const {
  return folder_ / (std::string(version) + FolderSuffix());
}

// "there is 1.30.0, 1.20.1", for an error in parentheses.
std::string RuntimeStore::Listed() const {
  std::string text;
  const Result<std::vector<StoredRuntime>> runtimes = List();
  if (runtimes) {
    for (const StoredRuntime& runtime : *runtimes)
      text += (text.empty() ? "" : ", ") + runtime.version;
  }
  return text.empty() ? "none is there yet" : std::format("there is {}", text);
}

// The record, once the library is what it says. Errors: kNotFound when there is
// no such folder, kCorrupt with a reason to put behind "…: ".
Result<StoredRuntime> RuntimeStore::Check(const std::string& version) const {
  const fs::path folder = FolderOf(version);
  std::error_code error;
  if (!fs::exists(folder, error))
    return Fail(ErrorCode::kNotFound, folder.string());
  Result<StoredRuntime> runtime = ReadRecord(folder);
  if (!runtime) return Fail(ErrorCode::kCorrupt, runtime.error().message);
  const auto library = FileMapping::Open(runtime->library());
  if (!library) return Fail(ErrorCode::kCorrupt, library.error().message);
  if (runtime->version != version ||
      Sha256Hex((*library)->bytes()) != runtime->library_sha256) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} is not the file that was added",
                            runtime->library().string()));
  }
  return runtime;
}

Result<fs::path> RuntimeStore::Find(const std::string& version) const {
  PARITY_ASSIGN_OR_RETURN(const RuntimeVersion parsed,
                          ParseRuntimeVersion(version));
  PARITY_RETURN_IF_ERROR(CheckUsable(parsed));
  const Result<StoredRuntime> runtime = Check(version);
  if (runtime) return runtime->library();
  if (runtime.error().code == ErrorCode::kNotFound) {
    return Fail(ErrorCode::kNotFound,
                std::format("ONNX Runtime {0} is not in {1} ({2}): "
                            "`onnx-parity runtime add {0}` fetches it",
                            version, folder_.string(), Listed()));
  }
  return Fail(ErrorCode::kCorrupt,
              std::format("ONNX Runtime {0} is damaged ({1}): `onnx-parity "
                          "runtime add {0}` fetches it anew, `onnx-parity "
                          "runtime remove {0}` removes it",
                          version, runtime.error().message));
}

// Makes everything in `partial`. The record's folder is where it will be.
Result<StoredRuntime> RuntimeStore::Make(const AddRequest& request,
                                         const fs::path& partial) const {
  const fs::path download = partial / "download";
  PARITY_ASSIGN_OR_RETURN(const Package package,
                          FetchPackage(request, download));
  const std::string what =
      request.package.empty()
          ? std::format("the package of {} {}", kPackageName, request.version)
          : request.package.string();
  StoredRuntime runtime;
  {
    // Checked and unpacked from the same bytes.
    PARITY_ASSIGN_OR_RETURN(const auto mapping,
                            FileMapping::Open(package.file));
    Tell(request, "checking what was fetched");
    if (!package.integrity.empty()) {
      PARITY_RETURN_IF_ERROR(
          CheckIntegrity(mapping->bytes(), package.integrity, what));
    }
    runtime.integrity = IntegrityOf(mapping->bytes());
    Tell(request, "unpacking the library");
    PARITY_ASSIGN_OR_RETURN(
        const PackageContent content,
        UnpackRuntime(mapping->bytes(), what, partial, request.interrupted));
    PARITY_RETURN_IF_ERROR(CheckContent(content, request, what));
    runtime.version = content.version;
  }
  std::error_code ignored;
  fs::remove_all(download, ignored);

  runtime.folder = partial;
  runtime.added = Now();
  PARITY_ASSIGN_OR_RETURN(const auto library,
                          FileMapping::Open(runtime.library()));
  if (Status checked = CheckSharedLibrary(library->bytes()); !checked)
    return std::unexpected(
        std::move(checked).error().In(std::format("the library in {}", what)));
  runtime.library_sha256 = Sha256Hex(library->bytes());
  runtime.library_bytes = static_cast<std::int64_t>(library->bytes().size());
  PARITY_RETURN_IF_ERROR(WriteRecord(runtime));
  runtime.folder = FolderOf(runtime.version);
  return runtime;
}

Result<AddedRuntime> RuntimeStore::Add(const AddRequest& request) const {
  AddRequest wanted = request;
  PARITY_ASSIGN_OR_RETURN(wanted.version, WantedVersion(request));
  // Before anything is written: the folder may be another user's.
  if (!wanted.version.empty()) {
    if (Result<StoredRuntime> there = Check(wanted.version))
      return AddedRuntime{.runtime = *std::move(there), .was_there = true};
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) return IoError("make the folder", folder_, error);
  PARITY_ASSIGN_OR_RETURN(
      const StoreLock lock,
      StoreLock::Acquire(folder_ / ".lock", request.progress,
                         request.interrupted));
  std::vector<std::string> notes;
  if (!wanted.version.empty()) {
    // Another process may have been faster.
    Result<StoredRuntime> there = Check(wanted.version);
    if (there)
      return AddedRuntime{.runtime = *std::move(there), .was_there = true};
    if (there.error().code != ErrorCode::kNotFound)
      notes.push_back(std::format("the one that was there was damaged ({})",
                                  there.error().message));
  }
  PARITY_ASSIGN_OR_RETURN(PartialFolder partial,
                          PartialFolder::Create(folder_));
  PARITY_ASSIGN_OR_RETURN(StoredRuntime made, Make(wanted, partial.path()));
  if (request.interrupted != nullptr && *request.interrupted)
    return Fail(ErrorCode::kInterrupted, "interrupted");
  PARITY_RETURN_IF_ERROR(partial.MoveTo(made.folder));
  if (!request.package.empty() && request.integrity.empty())
    notes.push_back(
        std::format("nobody vouched for {}: its integrity, {}, was not checked "
                    "(--integrity sha512-…)",
                    request.package.string(), made.integrity));
  return AddedRuntime{.runtime = std::move(made), .notes = std::move(notes)};
}

Result<std::vector<StoredRuntime>> RuntimeStore::List() const {
  std::error_code error;
  if (!fs::exists(folder_, error)) return {};
  std::vector<std::pair<RuntimeVersion, StoredRuntime>> found;
  for (auto entry = fs::directory_iterator(folder_, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string version = entry->path().filename().string();
    if (!version.ends_with(FolderSuffix())) continue;
    version.resize(version.size() - FolderSuffix().size());
    const Result<RuntimeVersion> parsed = ParseRuntimeVersion(version);
    if (!parsed) continue;
    Result<StoredRuntime> runtime = ReadRecord(entry->path());
    if (!runtime) {
      found.emplace_back(*parsed,
                         StoredRuntime{.version = version,
                                       .folder = entry->path(),
                                       .problem = runtime.error().message});
      continue;
    }
    std::error_code missing;
    const auto size = fs::file_size(runtime->library(), missing);
    if (missing || size != static_cast<std::uintmax_t>(runtime->library_bytes))
      runtime->problem = std::format("{} is not the file that was added",
                                     runtime->library().string());
    found.emplace_back(*parsed, *std::move(runtime));
  }
  if (error) return IoError("read the folder", folder_, error);
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return IsOlder(b.first, a.first);
  });
  std::vector<StoredRuntime> runtimes;
  runtimes.reserve(found.size());
  for (auto& [version, runtime] : found) runtimes.push_back(std::move(runtime));
  return runtimes;
}

Status RuntimeStore::Remove(const std::string& version,
                            const std::atomic<bool>* interrupted) const {
  PARITY_RETURN_IF_ERROR(ParseRuntimeVersion(version));
  const fs::path place = FolderOf(version);
  const auto absent = [&] {
    return Fail(ErrorCode::kNotFound,
                std::format("ONNX Runtime {} is not in {} ({})", version,
                            folder_.string(), Listed()));
  };
  std::error_code error;
  if (!fs::exists(place, error)) return absent();
  PARITY_ASSIGN_OR_RETURN(
      const StoreLock lock,
      StoreLock::Acquire(folder_ / ".lock", {}, interrupted));
  // Moved away first, so that half of it is never there under its name.
  const fs::path old =
      folder_ / std::format("{}{}-old", kPartialPrefix, ::getpid());
  fs::rename(place, old, error);
  if (error == std::errc::no_such_file_or_directory) return absent();
  if (error) return IoError("remove", place, error);
  fs::remove_all(old, error);
  if (error) return IoError("remove", old, error);
  return {};
}

}  // namespace parity
