#include "runtimes/stored_runtime.h"

#include <cstdint>
#include <filesystem>
#include <format>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/package_archive.h"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRecordName = "runtime.json";

}  // namespace

std::filesystem::path StoredRuntime::library() const {
  return folder / kLibraryName;
}

Status WriteRecord(const StoredRuntime& runtime) {
  const Json json = {{"version", runtime.version},
                     {"package_integrity", runtime.integrity},
                     {"library_sha256", runtime.library_sha256},
                     {"library_bytes", runtime.library_bytes},
                     {"added", runtime.added}};
  PARITY_ASSIGN_OR_RETURN(AtomicFile file,
                          AtomicFile::Create(runtime.folder / kRecordName));
  PARITY_RETURN_IF_ERROR(file.Write(json.dump(2) + "\n"));
  return file.Commit();
}

Result<StoredRuntime> ReadRecord(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kRecordName;
  PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
  const std::string_view text(
      reinterpret_cast<const char*>(mapping->bytes().data()),
      mapping->bytes().size());
  const Json json = Json::parse(text, nullptr, false);
  const auto has_text = [&json](const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string();
  };
  if (!has_text("version") || !has_text("package_integrity") ||
      !has_text("library_sha256") || !has_text("added") ||
      !json.contains("library_bytes") ||
      !json["library_bytes"].is_number_integer()) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} is damaged", path.string()));
  }
  return StoredRuntime{
      .version = json["version"].get<std::string>(),
      .folder = folder,
      .integrity = json["package_integrity"].get<std::string>(),
      .library_sha256 = json["library_sha256"].get<std::string>(),
      .library_bytes = json["library_bytes"].get<std::int64_t>(),
      .added = json["added"].get<std::string>()};
}

std::string FormatJsonList(const std::vector<StoredRuntime>& runtimes) {
  Json list = Json::array();
  for (const StoredRuntime& runtime : runtimes) {
    const Json problem =
        runtime.problem.empty() ? Json(nullptr) : Json(runtime.problem);
    list.push_back({{"version", runtime.version},
                    {"library", runtime.library().string()},
                    {"library_bytes", runtime.library_bytes},
                    {"library_sha256", runtime.library_sha256},
                    {"package_integrity", runtime.integrity},
                    {"added", runtime.added},
                    {"problem", problem}});
  }
  return Json{{"runtimes", list}}.dump(2, ' ', false,
                                       Json::error_handler_t::replace) +
         "\n";
}

}  // namespace parity
