#include "formats/onnx/onnx_test_data.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <map>
#include <memory>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file_mapping.h"
#include "base/printable.h"
#include "base/status_macros.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/message_writer.h"
#include "formats/onnx/model_encoder.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/proto_text.h"
#include "formats/onnx/tensor_proto.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::string_view kExtension = ".pb";

// SequenceProto and OptionalProto keep their content in the field that is the
// segment of a TensorProto.
bool HasSegment(std::string_view message) {
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag_and_type() == onnx::Bytes(onnx::kTensorSegment)) return true;
    reader.skip();
  }
  return false;
}

Result<NamedTensor> Decode(std::string_view message,
                           const onnx::TensorSource& source) {
  try {
    if (HasSegment(message)) {
      return Fail(ErrorCode::kUnsupported,
                  "holds a sequence, an optional value or a part of a tensor, "
                  "not a tensor");
    }
    PARITY_ASSIGN_OR_RETURN(onnx::DecodedTensor decoded,
                            onnx::DecodeTensor(message, source));
    if (decoded.encoded.has_value())
      return Fail(ErrorCode::kUnsupported, decoded.encoded->reason);
    return NamedTensor{.name = std::move(decoded.name),
                       .tensor = std::move(decoded.tensor)};
  } catch (...) {
    Error error = onnx::ErrorOfCaughtException("ONNX tensor");
    return Fail(error.code, std::move(error.message));
  }
}

// The number in "input_12.pb" when `prefix` is "input_"; nothing for other
// names.
bool ParseFileName(std::string_view name, std::string_view prefix,
                   std::uint32_t* number) {
  if (!name.starts_with(prefix) || !name.ends_with(kExtension)) return false;
  if (name.size() <= prefix.size() + kExtension.size()) return false;
  const std::string digits(name.substr(
      prefix.size(), name.size() - prefix.size() - kExtension.size()));
  const char* const end = digits.data() + digits.size();
  const auto [next, error] = std::from_chars(digits.data(), end, *number);
  return error == std::errc() && next == end;
}

using NumberedFiles = std::map<std::uint32_t, std::filesystem::path>;

Result<NumberedFiles> ListFiles(const std::filesystem::path& folder,
                                std::string_view prefix) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  NumberedFiles files;
  while (!error && entry != std::filesystem::directory_iterator()) {
    std::uint32_t number = 0;
    if (ParseFileName(entry->path().filename().string(), prefix, &number))
      files.emplace(number, entry->path());
    entry.increment(error);
  }
  if (!error) return files;
  const bool missing = error == std::errc::no_such_file_or_directory ||
                       error == std::errc::not_a_directory;
  return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
              std::format("cannot read the folder {}: {}", folder.string(),
                          error.message()));
}

Result<NamedTensors> ReadTensors(const std::filesystem::path& folder,
                                 std::string_view prefix) {
  PARITY_ASSIGN_OR_RETURN(const NumberedFiles files, ListFiles(folder, prefix));
  NamedTensors tensors;
  for (const auto& [number, path] : files) {
    PARITY_ASSIGN_OR_RETURN(NamedTensor tensor, ReadTensorProto(path));
    if (FindTensor(tensors, tensor.name) != nullptr) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("{}: another file of the set has the tensor '{}' too",
                      path.string(), Printable(tensor.name)));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Status WriteTensors(const NamedTensors& tensors,
                    const std::filesystem::path& folder,
                    std::string_view prefix) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const onnx::MessageWriter message =
        onnx::EncodeTensor(tensors[i].name, tensors[i].tensor);
    PARITY_ASSIGN_OR_RETURN(
        AtomicFile file,
        AtomicFile::Create(folder /
                           std::format("{}{}{}", prefix, i, kExtension)));
    PARITY_RETURN_IF_ERROR(message.WriteTo(file));
    PARITY_RETURN_IF_ERROR(file.Commit());
  }
  return {};
}

Status CheckNothingElse(const std::filesystem::path& folder,
                        std::string_view prefix, std::size_t count) {
  PARITY_ASSIGN_OR_RETURN(const NumberedFiles files, ListFiles(folder, prefix));
  if (files.empty() || files.rbegin()->first < count) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::format("{} belongs to another set of test data; delete it "
                          "or choose another folder",
                          files.rbegin()->second.string()));
}

}  // namespace

Result<NamedTensor> ReadTensorProto(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> file,
                          FileMapping::Open(path));
  onnx::ExternalFiles external(path.parent_path());
  const std::string_view message(
      reinterpret_cast<const char*>(file->bytes().data()),
      file->bytes().size());
  Result<NamedTensor> tensor =
      Decode(message, {.owner = file, .external = &external});
  if (!tensor) {
    return Fail(tensor.error().code,
                std::format("{}: {}", path.string(),
                            Printable(tensor.error().message)));
  }
  if (tensor->name.empty()) tensor->name = path.stem().string();
  return tensor;
}

Result<RecordedSet> ReadTestDataSet(const std::filesystem::path& folder) {
  RecordedSet set;
  PARITY_ASSIGN_OR_RETURN(set.inputs, ReadTensors(folder, "input_"));
  PARITY_ASSIGN_OR_RETURN(set.outputs, ReadTensors(folder, "output_"));
  if (set.inputs.empty() && set.outputs.empty()) {
    return Fail(ErrorCode::kNotFound,
                std::format("{} has no input_0.pb and no output_0.pb",
                            folder.string()));
  }
  return set;
}

Status WriteTestDataSet(const RecordedSet& set,
                        const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Fail(ErrorCode::kIo, std::format("cannot make the folder {}: {}",
                                            folder.string(), error.message()));
  }
  PARITY_RETURN_IF_ERROR(CheckNothingElse(folder, "input_", set.inputs.size()));
  PARITY_RETURN_IF_ERROR(
      CheckNothingElse(folder, "output_", set.outputs.size()));
  PARITY_RETURN_IF_ERROR(WriteTensors(set.inputs, folder, "input_"));
  return WriteTensors(set.outputs, folder, "output_");
}

}  // namespace parity
