#include "validate/reference_identity.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <format>
#include <fstream>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/file_mapping.h"
#include "base/parallel.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLoaderCache = "/etc/ld.so.cache";

// Variables by which libtorch, what it computes with, and the dynamic loader
// are steered.
constexpr std::array<std::string_view, 15> kSteering = {
    "ATEN_", "BLAS",   "BLIS_",    "DNNL_",    "GLIBC_TUNABLES",
    "GOMP_", "GOTO_",  "KMP_",     "LD_",      "MKL",
    "OMP_",  "ONEDNN", "OPENBLAS", "PYTORCH_", "TORCH_"};

constexpr std::array<std::string_view, 11> kProcessorFields = {
    "vendor_id",   "cpu family", "model",           "model name",
    "stepping",    "flags",      "CPU implementer", "CPU architecture",
    "CPU variant", "CPU part",   "Features"};

// Two facts never give the same text as two others.
std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts)
    joined += std::format("{}:{},", text.size(), text);
  return joined;
}

std::string Steering() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (std::ranges::any_of(kSteering, [&](std::string_view prefix) {
          return text.starts_with(prefix);
        }))
      variables.emplace_back(text);
  }
  std::ranges::sort(variables);
  return Joined(variables);
}

// Of the first processor; a machine with several kinds has one of each.
std::string Processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();)
    text += line + '\n';
  return ProcessorOf(text);
}

std::string LoaderCache() {
  const auto mapping = FileMapping::Open(kLoaderCache);
  return mapping ? Sha256Hex((*mapping)->bytes()) : "none";
}

std::string_view KindName(ModelKind kind) {
  switch (kind) {
    case ModelKind::kNetwork:
      return "network";
    case ModelKind::kTorchScript:
      return "torchscript";
    case ModelKind::kOnnx:
      break;
  }
  return "onnx";
}

// The file's digest, and its stamp for `sources`.
Result<std::string> DigestOfFile(const fs::path& path,
                                 std::vector<FileStamp>& sources) {
  // Stamped first: a change while we read is seen as one.
  PARITY_ASSIGN_OR_RETURN(FileStamp stamp, StampOf(path));
  PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
  sources.push_back(std::move(stamp));
  return Sha256Hex(mapping->bytes());
}

Result<std::string> Weights(const IdentityOptions& options,
                            std::vector<FileStamp>& sources) {
  if (options.request.kind == ModelKind::kTorchScript)
    return DigestOfFile(options.request.path, sources);
  if (options.checkpoint.empty())
    return std::format("synthetic {}", options.synthetic_seed);
  return DigestOfFile(options.checkpoint, sources);
}

}  // namespace

Result<FileStamp> StampOf(const fs::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) {
    return Fail(
        ErrorCode::kNotFound,
        std::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  }
  return FileStamp{
      .path = path.string(),
      .bytes = status.st_size,
      .modified_ns = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 +
                     status.st_mtim.tv_nsec};
}

bool AreUnchanged(const std::vector<FileStamp>& files) {
  return std::ranges::all_of(files, [](const FileStamp& file) {
    const Result<FileStamp> now = StampOf(file.path);
    return now && *now == file;
  });
}

Result<ReferenceIdentity> IdentifyReference(const IdentityOptions& options) {
  const LoadRequest& request = options.request;
  ReferenceIdentity identity;
  auto& facts = identity.facts;
  PARITY_ASSIGN_OR_RETURN(const FileStamp program, StampOf(options.program));
  // Without its path: the same program is found in several ways.
  facts["program"] = std::format("{} {}", program.bytes, program.modified_ns);
  facts["tool"] = kVersion;
  facts["processor"] = Processor();
  facts["environment"] = Steering();
  facts["loader cache"] = LoaderCache();
  facts["kind"] = KindName(request.kind);
  PARITY_ASSIGN_OR_RETURN(facts["weights"], Weights(options, identity.sources));
  facts["allow missing keys"] = options.allow_missing_keys ? "yes" : "no";
  for (const auto& [name, text] : request.attributes)
    facts["attribute " + name] = text;
  facts["precision"] = request.precision;
  facts["output names"] = Joined(request.output_names);
  facts["kernels"] = request.reference_kernels;
  // The order of sums, and so their rounding, depends on it.
  facts["threads"] =
      std::to_string(request.threads > 0 ? request.threads : CoreCount());
  return identity;
}

std::string ProcessorOf(std::string_view cpuinfo) {
  std::string text;
  for (const auto part : std::views::split(cpuinfo, '\n')) {
    const std::string_view line(part);
    if (line.empty()) break;  // the next processor
    const std::size_t end = line.find_first_of("\t:");
    if (std::ranges::contains(kProcessorFields, line.substr(0, end)))
      text += std::format("{}\n", line);
  }
  return text;
}

Result<std::vector<FileStamp>> LibrariesOf(pid_t pid) {
  std::ifstream maps(std::format("/proc/{}/maps", pid));
  std::set<std::string> paths;
  for (std::string line; std::getline(maps, line);) {
    // "address permissions offset device inode path": the path may hold spaces.
    const std::size_t begin = line.find('/');
    if (begin == std::string::npos) continue;
    const std::string path = line.substr(begin);
    const std::string name = path.substr(path.rfind('/') + 1);
    if (name.ends_with(".so") || name.contains(".so.") || name.contains(".so "))
      paths.insert(path);
  }
  if (paths.empty()) {
    return Fail(ErrorCode::kIo,
                "the system does not say what libraries the worker uses");
  }
  std::vector<FileStamp> libraries;
  for (const std::string& path : paths) {
    if (path.ends_with(" (deleted)")) {
      return Fail(ErrorCode::kIo,
                  std::format("{}: the library was replaced meanwhile", path));
    }
    PARITY_ASSIGN_OR_RETURN(FileStamp stamp, StampOf(path));
    libraries.push_back(std::move(stamp));
  }
  return libraries;
}

}  // namespace parity
