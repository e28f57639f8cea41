#include "sweep/sweep_digest.h"

#include <algorithm>
#include <filesystem>
#include <format>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file_mapping.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/model.h"
#include "graph/subgraphs.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

// Regular files below a folder, sorted by path.
Result<std::vector<fs::path>> FilesBelow(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entries(folder, error);
  for (; !error && entries != fs::recursive_directory_iterator();
       entries.increment(error)) {
    if (entries->is_regular_file(error)) files.push_back(entries->path());
  }
  if (error) {
    return Fail(ErrorCode::kIo,
                std::format("{}: {}", folder.string(), error.message()));
  }
  std::ranges::sort(files);
  return files;
}

// The files that the graph's weights are in, relative to the model's folder.
void AddExternalFiles(const Graph& graph, std::set<fs::path>& files) {
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.encoded && !initializer.encoded->location.empty())
      files.insert(initializer.encoded->location);
  }
  for (const Node& node : graph.nodes) {
    for (const Graph* const inner : Subgraphs(node))
      AddExternalFiles(*inner, files);
  }
}

}  // namespace

void SweepDigest::Add(std::string_view key, std::string_view value) {
  // Lengths keep different parts apart.
  hash_.Update(std::format("{}={}:", key, value.size()));
  hash_.Update(value);
}

Status SweepDigest::AddFile(std::string_view key, const fs::path& path) {
  if (path.empty()) return {};
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
    Add(key, Sha256Hex(mapping->bytes()));
    return {};
  }
  PARITY_ASSIGN_OR_RETURN(const std::vector<fs::path> files, FilesBelow(path));
  for (const fs::path& file : files) {
    PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(file));
    Add(file.lexically_relative(path).string(), Sha256Hex(mapping->bytes()));
  }
  return {};
}

Status SweepDigest::AddModel(const fs::path& path) {
  PARITY_RETURN_IF_ERROR(AddFile("model", path));
  PARITY_ASSIGN_OR_RETURN(const Model model,
                          ReadOnnxModel(path, {.load_external_data = false}));
  std::set<fs::path> beside;
  AddExternalFiles(model.graph, beside);
  for (const fs::path& file : beside)
    PARITY_RETURN_IF_ERROR(AddFile(file.string(), path.parent_path() / file));
  return {};
}

Status SweepDigest::AddReference(const ReferenceOptions& reference) {
  PARITY_RETURN_IF_ERROR(AddFile("checkpoint", reference.checkpoint));
  PARITY_RETURN_IF_ERROR(AddFile("torchscript", reference.torchscript));
  PARITY_RETURN_IF_ERROR(AddFile("recorded", reference.recorded));
  for (const auto& [name, value] : reference.attributes)
    Add("attribute " + name, value);
  for (const auto& [key, value] : reference.network_config)
    Add("network " + key, value);
  for (const std::string& name : reference.output_names) Add("output", name);
  if (reference.synthetic_seed)
    Add("synthetic_seed", std::to_string(*reference.synthetic_seed));
  Add("allow_missing_keys", reference.allow_missing_keys ? "true" : "false");
  Add("kernels", reference.kernels);
  return {};
}

Status SweepDigest::AddCases(const CaseOptions& cases) {
  for (const std::string& name : cases.only) Add("case", name);
  for (const auto& [input, shape] : cases.shapes)
    Add("shape " + input, ToString(shape));
  for (const auto& [name, size] : cases.dimensions)
    Add("dim " + name, std::to_string(size));
  Add("generator", cases.generator);
  for (const auto& [input, path] : cases.images)
    PARITY_RETURN_IF_ERROR(AddFile("image " + input, path));
  for (const fs::path& path : cases.inputs)
    PARITY_RETURN_IF_ERROR(AddFile("inputs", path));
  Add("seed", std::to_string(cases.seed));
  Add("vary", cases.vary ? "true" : "false");
  return {};
}

Status SweepDigest::AddValidation(const ValidationOptions& options) {
  PARITY_RETURN_IF_ERROR(AddReference(options.reference));
  PARITY_RETURN_IF_ERROR(AddCases(options.cases));
  Add("atol", std::format("{}", options.tolerance.atol));
  Add("rtol", std::format("{}", options.tolerance.rtol));
  for (const auto& [output, limit] : options.output_atol)
    Add("atol " + output, std::format("{}", limit));
  for (const auto& [output, limit] : options.output_rtol)
    Add("rtol " + output, std::format("{}", limit));
  Add("criterion", std::to_string(static_cast<int>(options.criterion)));
  Add("explain", std::to_string(static_cast<int>(options.explain)));
  Add("strict_ties", options.strict_ties ? "true" : "false");
  Add("threads", std::to_string(options.runtime.threads));
  Add("timeout", std::to_string(options.limits.timeout.count()));
  Add("memory", std::to_string(options.limits.memory_bytes));
  return {};
}

}  // namespace parity
