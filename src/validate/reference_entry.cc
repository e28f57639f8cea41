#include "validate/reference_entry.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "formats/safetensors/safetensors_reader.h"
#include "formats/safetensors/safetensors_writer.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/reference_identity.h"

namespace parity {
namespace {

using Metadata = std::map<std::string, std::string>;

void AddTexts(const std::string& key, const std::vector<std::string>& texts,
              Metadata& metadata) {
  metadata[key] = std::to_string(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    metadata[std::format("{}.{}", key, i)] = texts[i];
}

void AddFiles(const std::vector<FileStamp>& files, Metadata& metadata) {
  metadata["libraries"] = std::to_string(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string key = std::format("libraries.{}", i);
    metadata[key] = files[i].path;
    metadata[key + ".bytes"] = std::to_string(files[i].bytes);
    metadata[key + ".modified_ns"] = std::to_string(files[i].modified_ns);
  }
}

Result<std::vector<std::byte>> Image(const NamedTensors& tensors,
                                     const Metadata& metadata) {
  std::vector<std::byte> image(SafetensorsSize(tensors, metadata));
  PARITY_RETURN_IF_ERROR(WriteSafetensorsTo(image, tensors, metadata));
  return image;
}

// Reads the metadata of one entry. The first field that is missing or no number
// is remembered and makes status() an error; reads give empty values.
class Fields {
 public:
  explicit Fields(const Metadata& metadata) : metadata_(metadata) {}

  std::string Text(const std::string& key) {
    const auto found = metadata_.find(key);
    if (found != metadata_.end()) return found->second;
    Refuse(key);
    return "";
  }
  template <class T>
  T Number(const std::string& key) {
    const std::string text = Text(key);
    T number{};
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) Refuse(key);
    return number;
  }
  // How many "key.0", "key.1", … there are: never more than fields.
  std::size_t Count(const std::string& key) {
    const auto count = Number<std::size_t>(key);
    if (count <= metadata_.size()) return count;
    Refuse(key);
    return 0;
  }
  std::vector<std::string> Texts(const std::string& key) {
    std::vector<std::string> texts(Count(key));
    for (std::size_t i = 0; i < texts.size(); ++i)
      texts[i] = Text(std::format("{}.{}", key, i));
    return texts;
  }
  std::vector<FileStamp> Files() {
    std::vector<FileStamp> files(Count("libraries"));
    for (std::size_t i = 0; i < files.size(); ++i) {
      const std::string key = std::format("libraries.{}", i);
      files[i] = {.path = Text(key),
                  .bytes = Number<std::int64_t>(key + ".bytes"),
                  .modified_ns = Number<std::int64_t>(key + ".modified_ns")};
    }
    return files;
  }
  [[nodiscard]] Status status() const {
    if (refused_.empty()) return {};
    return Fail(ErrorCode::kCorrupt,
                std::format("it has no proper '{}'", refused_));
  }

 private:
  void Refuse(const std::string& key) {
    if (refused_.empty()) refused_ = key;
  }
  const Metadata& metadata_;
  std::string refused_;
};

}  // namespace

Result<std::vector<std::byte>> Encode(const LoadEntry& entry) {
  Metadata metadata = {{"version", entry.loaded.version},
                       {"kernels", entry.loaded.kernels},
                       {"load_ms", std::format("{}", entry.loaded.load_ms)},
                       {"weights_sha256", entry.weights_sha256}};
  AddTexts("input_names", entry.loaded.input_names, metadata);
  AddTexts("output_names", entry.loaded.output_names, metadata);
  AddTexts("load_notes", entry.loaded.notes, metadata);
  AddTexts("weights_notes", entry.notes, metadata);
  AddFiles(entry.libraries, metadata);
  return Image({}, metadata);
}

Result<std::vector<std::byte>> Encode(const RunEntry& entry) {
  Metadata metadata = {
      {"run_ms", std::format("{}", entry.run.run_ms)},
      {"peak_rss_bytes", std::to_string(entry.run.peak_rss_bytes)}};
  AddTexts("changed_inputs", entry.run.changed_inputs, metadata);
  AddFiles(entry.libraries, metadata);
  return Image(entry.run.outputs, metadata);
}

Result<LoadEntry> DecodeLoadEntry(std::span<const std::byte> payload,
                                  const std::shared_ptr<const void>& owner) {
  PARITY_ASSIGN_OR_RETURN(const SafetensorsFile file,
                          ReadSafetensors(payload, owner));
  Fields fields(file.metadata);
  LoadEntry entry;
  entry.loaded.version = fields.Text("version");
  entry.loaded.kernels = fields.Text("kernels");
  entry.loaded.load_ms = fields.Number<double>("load_ms");
  entry.loaded.input_names = fields.Texts("input_names");
  entry.loaded.output_names = fields.Texts("output_names");
  entry.loaded.notes = fields.Texts("load_notes");
  entry.weights_sha256 = fields.Text("weights_sha256");
  entry.notes = fields.Texts("weights_notes");
  entry.libraries = fields.Files();
  PARITY_RETURN_IF_ERROR(fields.status());
  return entry;
}

Result<RunEntry> DecodeRunEntry(std::span<const std::byte> payload,
                                const std::shared_ptr<const void>& owner) {
  PARITY_ASSIGN_OR_RETURN(SafetensorsFile file,
                          ReadSafetensors(payload, owner));
  Fields fields(file.metadata);
  RunEntry entry;
  entry.run.outputs = std::move(file.tensors);
  entry.run.run_ms = fields.Number<double>("run_ms");
  entry.run.peak_rss_bytes = fields.Number<std::int64_t>("peak_rss_bytes");
  entry.run.changed_inputs = fields.Texts("changed_inputs");
  entry.libraries = fields.Files();
  PARITY_RETURN_IF_ERROR(fields.status());
  return entry;
}

}  // namespace parity
