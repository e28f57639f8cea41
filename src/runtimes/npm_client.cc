#include "runtimes/npm_client.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <format>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/command.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/package_archive.h"
#include "runtimes/runtime_version.h"

namespace parity {
namespace {

using Json = nlohmann::json;

// With --json npm puts errors on standard output, too, as
// {"error": {"code": "E404", "summary": "…"}}.
struct NpmError {
  std::string code;
  std::string summary;
};

// The text behind "npm error " or, before npm 10, "npm ERR! ".
std::string_view WithoutPrefix(std::string_view line) {
  for (const std::string_view prefix : {"npm error", "npm ERR!"}) {
    if (line.starts_with(prefix)) {
      line.remove_prefix(prefix.size());
      break;
    }
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

bool IsChatter(std::string_view line) {
  return line.starts_with("npm notice") || line.starts_with("npm warn") ||
         line.starts_with("npm WARN");
}

std::string FirstLine(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

NpmError ErrorOf(const CommandResult& result) {
  NpmError error;
  std::istringstream lines(result.err);
  for (std::string whole; std::getline(lines, whole);) {
    if (IsChatter(whole)) continue;
    const std::string_view line = WithoutPrefix(whole);
    if (line.starts_with("code ")) {
      error.code = line.substr(5);
    } else if (!line.empty() && !line.starts_with("A complete log")) {
      error.summary = line;
    }
  }
  const Json json = Json::parse(result.out, nullptr, false);
  if (json.is_object() && json.contains("error") && json["error"].is_object()) {
    error.code = json["error"].value("code", error.code);
    error.summary = FirstLine(json["error"].value("summary", error.summary));
  }
  return error;
}

bool IsNetworkError(std::string_view code) {
  constexpr std::array<std::string_view, 9> kCodes = {
      "ENOTFOUND",    "ECONNREFUSED", "ECONNRESET",
      "ETIMEDOUT",    "EAI_AGAIN",    "ENETUNREACH",
      "EHOSTUNREACH", "ENETDOWN",     "ERR_SOCKET_TIMEOUT"};
  return std::ranges::contains(kCodes, code);
}

std::string Spec(const std::string& version) {
  return std::format("{}@{}", kPackageName, version);
}

// Up to three on either side of `wanted`.
std::string Nearest(std::vector<RuntimeVersion> versions,
                    const RuntimeVersion& wanted) {
  std::ranges::sort(versions, IsOlder);
  const auto middle = std::ranges::lower_bound(versions, wanted, IsOlder);
  constexpr std::ptrdiff_t kEachSide = 3;
  const auto begin = middle - std::min(kEachSide, middle - versions.begin());
  const auto end = middle + std::min(kEachSide, versions.end() - middle);
  std::string text;
  for (auto version = begin; version != end; ++version)
    text += (text.empty() ? "" : ", ") + version->Text();
  return text;
}

}  // namespace

NpmClient::NpmClient(const std::atomic<bool>* interrupted)
    : program_("npm"), interrupted_(interrupted) {
  const char* const named = std::getenv("ONNX_PARITY_NPM");
  if (named != nullptr && *named != '\0') program_ = named;
}

Result<std::string> NpmClient::LatestVersion() const {
  return View("latest", "version");
}

Result<std::string> NpmClient::Integrity(const std::string& version) const {
  return View(version, "dist.integrity");
}

Result<std::filesystem::path> NpmClient::Download(
    const std::string& version, const std::filesystem::path& folder) const {
  PARITY_RETURN_IF_ERROR(Run({"pack", Spec(version), "--pack-destination",
                              folder.string(), "--json", "--ignore-scripts"},
                             std::chrono::hours(1), version));
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".tgz" && entry.is_regular_file(error))
      return entry.path();
  }
  return Fail(ErrorCode::kIo,
              std::format("{} said that it fetched {} but left no .tgz file",
                          program_, Spec(version)));
}

Result<CommandResult> NpmClient::Run(std::vector<std::string> words,
                                     std::chrono::milliseconds timeout,
                                     const std::string& version) const {
  words.insert(words.begin(), program_);
  Result<CommandResult> result = RunCommand(
      {.words = words, .timeout = timeout, .interrupted = interrupted_});
  // 127 is how a shell, such as one that wraps it, says the same.
  constexpr int kNotFound = 127;
  const bool absent = result ? result->exit_code == kNotFound
                             : result.error().code == ErrorCode::kNotFound;
  if (absent) {
    return Fail(
        ErrorCode::kNotFound,
        std::format("the npm client is needed to fetch {}, but {}: install "
                    "npm, or set ONNX_PARITY_NPM to it, or give the package as "
                    "a file: --package FILE",
                    Spec(version),
                    result ? std::format("{} did not find it", program_)
                           : result.error().message));
  }
  if (result && result->exit_code != 0)
    return std::unexpected(Explain(*result, version));
  return result;
}

Result<std::string> NpmClient::View(const std::string& version,
                                    const std::string& field) const {
  // Its own patience without network would be more than a minute.
  PARITY_ASSIGN_OR_RETURN(
      const CommandResult result,
      Run({"view", Spec(version), field, "--json", "--fetch-retries=1",
           "--fetch-retry-mintimeout=1000"},
          std::chrono::minutes(3), version));
  // Before npm 9 a version that does not exist is an empty answer.
  if (result.out.find_first_not_of(" \n") == std::string::npos)
    return std::unexpected(UnknownVersion(version));
  const Json json = Json::parse(result.out, nullptr, false);
  if (json.is_string()) return json.get<std::string>();
  return Fail(
      ErrorCode::kIo,
      std::format("{}: not the answer of an npm client about {} of {}: "
                  "{}",
                  program_, field, Spec(version), FirstLine(result.out)));
}

Error NpmClient::UnknownVersion(const std::string& version) const {
  Error error{.code = ErrorCode::kNotFound,
              .message = std::format("there is no {}", Spec(version))};
  const Result<RuntimeVersion> wanted = ParseRuntimeVersion(version);
  const Result<CommandResult> result =
      RunCommand({.words = {program_, "view", std::string(kPackageName),
                            "versions", "--json"},
                  .timeout = std::chrono::minutes(3),
                  .interrupted = interrupted_});
  if (!wanted || !result) return error;
  const Json json = Json::parse(result->out, nullptr, false);
  std::vector<RuntimeVersion> versions;
  for (const Json& entry : json.is_array() ? json : Json::array()) {
    if (!entry.is_string()) continue;
    const Result<RuntimeVersion> other =
        ParseRuntimeVersion(entry.get<std::string>());
    if (other && CheckUsable(*other) &&
        (other->suffix.empty() || !wanted->suffix.empty()))
      versions.push_back(*other);
  }
  if (!versions.empty())
    error.message += std::format("; the nearest are {}",
                                 Nearest(std::move(versions), *wanted));
  return error;
}

Error NpmClient::Explain(const CommandResult& result,
                         const std::string& version) const {
  const NpmError error = ErrorOf(result);
  if (error.code == "E404" || error.code == "ETARGET")
    return UnknownVersion(version);
  if (IsNetworkError(error.code)) {
    return {.code = ErrorCode::kIo,
            .message = std::format(
                "cannot reach the npm registry ({}); without network: fetch "
                "{}-{}.tgz elsewhere and give it with --package FILE "
                "--integrity sha512-…",
                error.code, kPackageName, version)};
  }
  return {.code = ErrorCode::kIo,
          .message = std::format(
              "{} could not fetch {}: {}", program_, Spec(version),
              error.summary.empty()
                  ? std::format("it ended with exit code {}", result.exit_code)
                  : error.summary)};
}

}  // namespace parity
