#include "validate/recorded_backend.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/file_kind.h"
#include "formats/npy/npy_reader.h"
#include "formats/onnx/onnx_test_data.h"
#include "formats/safetensors/safetensors_reader.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {
namespace {

Result<NamedTensors> ReadTensorFile(const std::filesystem::path& path) {
  FileKind kind = FileKind::kUnknown;
  {
    PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
    kind = SniffFileKind(mapping->bytes());
  }
  if (kind == FileKind::kNpz) return ReadNpzFile(path);
  if (kind == FileKind::kSafetensors) {
    PARITY_ASSIGN_OR_RETURN(SafetensorsFile file, ReadSafetensorsFile(path));
    return std::move(file.tensors);
  }
  return Fail(
      ErrorCode::kUnsupported,
      std::format(
          "{} is {}, not a safetensors or npz file or a test_data_set folder",
          path.string(), Describe(kind)));
}

// The tensors the model calls its inputs; the rest are outputs.
Result<Recording> SplitByContract(const std::filesystem::path& path,
                                  NamedTensors tensors,
                                  const Contract& contract) {
  Recording recording{
      .name = path.stem().string(), .inputs = {}, .outputs = {}};
  for (const ValueInfo& input : contract.inputs) {
    const auto found =
        std::ranges::find(tensors, input.name, &NamedTensor::name);
    if (found == tensors.end()) {
      return Fail(ErrorCode::kIncompatible,
                  std::format("{}: input {} of the model is not recorded",
                              path.string(), input.name));
    }
    recording.inputs.push_back(std::move(*found));
    tensors.erase(found);
  }
  if (tensors.empty()) {
    return Fail(
        ErrorCode::kIncompatible,
        std::format("{}: no outputs are recorded, only inputs", path.string()));
  }
  recording.outputs = std::move(tensors);
  return recording;
}

// The number of a tensor that is named after its file ("input_2"); nothing for
// other names.
std::optional<std::size_t> FileNumber(std::string_view name) {
  const std::size_t underscore = name.rfind('_');
  if (underscore == std::string_view::npos) return std::nullopt;
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [position, error] =
      std::from_chars(name.data() + underscore + 1, end, number);
  if (error != std::errc() || position != end) return std::nullopt;
  return number;
}

// Tensors of a test data set that carry none of the declared names stand for
// the declared value of their file's number.
Status NameByNumber(const std::filesystem::path& path,
                    const std::vector<ValueInfo>& declared,
                    NamedTensors& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (std::ranges::contains(declared, tensors[i].name, &ValueInfo::name))
      continue;
    const std::size_t number = FileNumber(tensors[i].name).value_or(i);
    if (number >= declared.size()) {
      return Fail(ErrorCode::kIncompatible,
                  std::format("{}: tensor {} is none of the {} the model has",
                              path.string(), tensors[i].name, declared.size()));
    }
    tensors[i].name = declared[number].name;
  }
  return {};
}

Result<Recording> ReadTestDataSetRecording(const std::filesystem::path& folder,
                                           const Contract& contract) {
  PARITY_ASSIGN_OR_RETURN(RecordedSet set, ReadTestDataSet(folder));
  PARITY_RETURN_IF_ERROR(NameByNumber(folder, contract.inputs, set.inputs));
  PARITY_RETURN_IF_ERROR(NameByNumber(folder, contract.outputs, set.outputs));
  return Recording{.name = folder.filename().string(),
                   .inputs = std::move(set.inputs),
                   .outputs = std::move(set.outputs)};
}

// The test_data_set_N folders inside `folder`, or itself when it is one.
std::set<std::filesystem::path> TestDataSets(
    const std::filesystem::path& folder) {
  std::set<std::filesystem::path> sets;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(folder, ignored)) {
    if (entry.is_directory() &&
        entry.path().filename().string().starts_with("test_data_set_"))
      sets.insert(entry.path());
  }
  if (sets.empty()) sets.insert(folder);
  return sets;
}

std::filesystem::path WithoutTrailingSlash(const std::filesystem::path& path) {
  return path.filename().empty() ? path.parent_path() : path;
}

bool SameTensors(const NamedTensors& a, const NamedTensors& b) {
  return std::ranges::equal(
      a, b, [](const NamedTensor& x, const NamedTensor& y) {
        return x.name == y.name && x.tensor.dtype() == y.tensor.dtype() &&
               x.tensor.shape() == y.tensor.shape() &&
               std::ranges::equal(x.tensor.bytes(), y.tensor.bytes());
      });
}

}  // namespace

Result<std::vector<Recording>> ReadRecordings(const std::filesystem::path& path,
                                              const Contract& contract) {
  std::vector<Recording> recordings;
  if (!std::filesystem::is_directory(path)) {
    PARITY_ASSIGN_OR_RETURN(NamedTensors tensors, ReadTensorFile(path));
    PARITY_ASSIGN_OR_RETURN(
        Recording recording,
        SplitByContract(path, std::move(tensors), contract));
    recordings.push_back(std::move(recording));
    return recordings;
  }
  for (const std::filesystem::path& folder :
       TestDataSets(WithoutTrailingSlash(path))) {
    PARITY_ASSIGN_OR_RETURN(Recording recording,
                            ReadTestDataSetRecording(folder, contract));
    recordings.push_back(std::move(recording));
  }
  return recordings;
}

Result<NamedTensors> ReadInputs(const std::filesystem::path& path,
                                const Contract& contract) {
  NamedTensors tensors;
  if (std::filesystem::is_directory(path)) {
    PARITY_ASSIGN_OR_RETURN(RecordedSet set, ReadTestDataSet(path));
    PARITY_RETURN_IF_ERROR(NameByNumber(path, contract.inputs, set.inputs));
    tensors = std::move(set.inputs);
  } else {
    PARITY_ASSIGN_OR_RETURN(tensors, ReadTensorFile(path));
  }
  NamedTensors inputs;
  for (const ValueInfo& input : contract.inputs) {
    const Tensor* const tensor = FindTensor(tensors, input.name);
    if (tensor == nullptr) {
      return Fail(ErrorCode::kNotFound,
                  std::format("{} has no tensor for input {} of the model",
                              path.string(), input.name));
    }
    inputs.push_back({.name = input.name, .tensor = *tensor});
  }
  return inputs;
}

Result<LoadResult> RecordedBackend::Load(const LoadRequest& /*request*/) {
  LoadResult result;
  result.version = "recording";
  return result;
}

Result<RunResult> RecordedBackend::Run(const RunRequest& request) {
  for (const Recording& recording : recordings_) {
    if (!SameTensors(recording.inputs, request.inputs)) continue;
    RunResult result;
    result.outputs = recording.outputs;
    return result;
  }
  return Fail(ErrorCode::kNotFound,
              "these inputs are not among the recorded ones");
}

}  // namespace parity
