#include "formats/safetensors/safetensors_writer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "formats/text/utf8.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Metadata = std::map<std::string, std::string>;

constexpr std::size_t kAlignment = 64;
constexpr std::string_view kMetadataKey = "__metadata__";

std::string_view FormatName(DType dtype) {
  for (const SafetensorsDType& entry : kSafetensorsDTypes) {
    if (entry.dtype == dtype) return entry.name;
  }
  return "";
}

// The order of the tensors' bytes.
std::vector<const NamedTensor*> DataOrder(const NamedTensors& tensors) {
  std::vector<const NamedTensor*> order;
  order.reserve(tensors.size());
  for (const NamedTensor& entry : tensors) order.push_back(&entry);
  std::ranges::stable_sort(
      order, std::ranges::greater{},
      [](const NamedTensor* entry) { return ByteSize(entry->tensor.dtype()); });
  return order;
}

void AppendJsonText(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::format_to(std::back_inserter(out), "\\u{:04x}",
                     static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendMetadata(std::string& out, const Metadata& metadata) {
  AppendJsonText(out, kMetadataKey);
  out += ":{";
  bool first = true;
  for (const auto& [key, value] : metadata) {
    if (!first) out += ',';
    first = false;
    AppendJsonText(out, key);
    out += ':';
    AppendJsonText(out, value);
  }
  out += '}';
}

void AppendTensor(std::string& out, const NamedTensor& entry,
                  std::size_t begin) {
  AppendJsonText(out, entry.name);
  std::format_to(std::back_inserter(out), R"(:{{"dtype":"{}","shape":[)",
                 FormatName(entry.tensor.dtype()));
  bool first = true;
  for (const std::int64_t axis : entry.tensor.shape()) {
    std::format_to(std::back_inserter(out), "{}{}", first ? "" : ",", axis);
    first = false;
  }
  std::format_to(std::back_inserter(out), R"(],"data_offsets":[{},{}]}})",
                 begin, begin + entry.tensor.bytes().size());
}

// The size field, the JSON and its padding: all bytes before the data.
std::string MakeHead(const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<std::size_t> begins(tensors.size());
  std::size_t end = 0;
  for (const NamedTensor* entry : DataOrder(tensors)) {
    begins[static_cast<std::size_t>(entry - tensors.data())] = end;
    end += entry->tensor.bytes().size();
  }
  std::string head(sizeof(std::uint64_t), '\0');
  head += '{';
  if (!metadata.empty()) AppendMetadata(head, metadata);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i > 0 || !metadata.empty()) head += ',';
    AppendTensor(head, tensors[i], begins[i]);
  }
  head += '}';
  head.append((kAlignment - head.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t json_size = head.size() - sizeof(std::uint64_t);
  std::memcpy(head.data(), &json_size, sizeof(json_size));
  return head;
}

Status Check(const NamedTensors& tensors, const Metadata& metadata) {
  std::vector<std::string_view> names;
  names.reserve(tensors.size());
  for (const NamedTensor& entry : tensors) {
    if (!IsUtf8(entry.name) || entry.name == kMetadataKey) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("a safetensors file cannot hold a tensor of the "
                              "name '{}'",
                              entry.name));
    }
    if (FormatName(entry.tensor.dtype()).empty()) {
      return Fail(ErrorCode::kUnsupported,
                  std::format("tensor '{}': safetensors files have no {}",
                              entry.name, Name(entry.tensor.dtype())));
    }
    names.push_back(entry.name);
  }
  for (const auto& [key, value] : metadata) {
    if (!IsUtf8(key) || !IsUtf8(value))
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("the metadata '{}' is not UTF-8", key));
  }
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin == names.end()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              std::format("two tensors are called '{}'", *twin));
}

template <class File>
Status WritePieces(File& file, const NamedTensors& tensors,
                   const Metadata& metadata) {
  PARITY_RETURN_IF_ERROR(Check(tensors, metadata));
  PARITY_RETURN_IF_ERROR(file.Write(MakeHead(tensors, metadata)));
  for (const NamedTensor* entry : DataOrder(tensors))
    PARITY_RETURN_IF_ERROR(file.Write(entry->tensor.bytes()));
  return {};
}

}  // namespace

std::size_t SafetensorsSize(const NamedTensors& tensors,
                            const Metadata& metadata) {
  std::size_t size = MakeHead(tensors, metadata).size();
  for (const NamedTensor& entry : tensors) size += entry.tensor.bytes().size();
  return size;
}

Status WriteSafetensorsTo(std::span<std::byte> target,
                          const NamedTensors& tensors,
                          const Metadata& metadata) {
  PARITY_RETURN_IF_ERROR(Check(tensors, metadata));
  const std::string head = MakeHead(tensors, metadata);
  std::size_t size = head.size();
  for (const NamedTensor& entry : tensors) size += entry.tensor.bytes().size();
  if (size != target.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} bytes given for a safetensors image of {}",
                            target.size(), size));
  }
  std::byte* out = target.data();
  std::memcpy(out, head.data(), head.size());
  out += head.size();
  for (const NamedTensor* entry : DataOrder(tensors)) {
    const std::span<const std::byte> bytes = entry->tensor.bytes();
    if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
    out += bytes.size();
  }
  return {};
}

Status WriteSafetensors(AtomicFile& file, const NamedTensors& tensors,
                        const Metadata& metadata) {
  return WritePieces(file, tensors, metadata);
}

Status WriteSafetensors(MemoryFile& file, const NamedTensors& tensors,
                        const Metadata& metadata) {
  return WritePieces(file, tensors, metadata);
}

}  // namespace parity
