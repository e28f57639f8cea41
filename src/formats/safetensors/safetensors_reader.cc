#include "formats/safetensors/safetensors_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_reader.h"
#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/elements/elements.h"
#include "formats/file_kind.h"
#include "formats/safetensors/safetensors_dtypes.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kMetadataKey = "__metadata__";

// One tensor as the header describes it.
struct Record {
  std::string name;
  bool has_dtype = false;
  bool has_shape = false;
  bool has_offsets = false;
  std::string dtype;
  Shape shape;
  std::vector<std::uint64_t> offsets;  // two, once the header is parsed
};

// Receives the events of nlohmann's parser, so that the header becomes records
// without a tree in between: worker messages pass through here. Every handler
// returns false to stop; error() then says why.
class HeaderHandler {
 public:
  using Json = nlohmann::json;
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  // The parser prescribes these names.
  // NOLINTBEGIN(readability-identifier-naming)
  bool null() { return Unexpected("null"); }
  bool boolean(bool) { return Unexpected("a boolean"); }
  bool number_integer(number_integer_t) {
    return Unexpected("a negative number");
  }
  bool number_float(number_float_t, const string_t&) {
    return Unexpected("a fraction");
  }
  bool binary(binary_t&) { return Unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) {
    if (place_ == Place::kShape) {
      if (value > std::numeric_limits<std::int64_t>::max())
        return Stop(std::format("the axis {} is too large", value));
      records.back().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ == Place::kOffsets) {
      records.back().offsets.push_back(value);
      return true;
    }
    return Unexpected("a number");
  }

  bool string(string_t& value) {
    if (place_ == Place::kTensor && field_ == "dtype") {
      records.back().dtype = std::move(value);
      records.back().has_dtype = true;
      return true;
    }
    if (place_ == Place::kMetadata) {
      metadata[field_] = std::move(value);
      return true;
    }
    return Unexpected("a text");
  }

  bool start_object(std::size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
      return true;
    }
    if (place_ != Place::kTop) return Unexpected("an object");
    place_ = top_is_metadata_ ? Place::kMetadata : Place::kTensor;
    return true;
  }

  bool key(string_t& value) {
    if (place_ == Place::kTop) return StartTop(value);
    if (place_ == Place::kMetadata) {
      field_ = std::move(value);
      return !metadata.contains(field_) ||
             Stop(std::format("the metadata key '{}' occurs twice", field_));
    }
    field_ = std::move(value);
    const Record& record = records.back();
    const bool known =
        field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    if (!known) return Stop(std::format("unknown field '{}'", field_));
    if ((field_ == "dtype" && record.has_dtype) ||
        (field_ == "shape" && record.has_shape) ||
        (field_ == "data_offsets" && record.has_offsets)) {
      return Stop(std::format("the field '{}' occurs twice", field_));
    }
    return true;
  }

  bool end_object() {
    if (place_ == Place::kTop) return true;
    const bool was_tensor =
        std::exchange(place_, Place::kTop) == Place::kTensor;
    if (!was_tensor) return true;
    const Record& record = records.back();
    if (!record.has_dtype) return Stop("has no dtype");
    if (!record.has_shape) return Stop("has no shape");
    return record.has_offsets || Stop("has no data_offsets");
  }

  bool start_array(std::size_t) {
    if (place_ == Place::kTensor && field_ == "shape") {
      place_ = Place::kShape;
      records.back().has_shape = true;
      return true;
    }
    if (place_ == Place::kTensor && field_ == "data_offsets") {
      place_ = Place::kOffsets;
      records.back().has_offsets = true;
      return true;
    }
    return Unexpected("a list");
  }

  bool end_array() {
    place_ = Place::kTensor;
    const auto& offsets = records.back().offsets;
    return field_ != "data_offsets" || offsets.size() == 2 ||
           Stop(std::format("data_offsets has {} numbers, not 2",
                            offsets.size()));
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) {
    return Fatal(
        std::format("the header is no JSON near its byte {}", position));
  }
  // NOLINTEND(readability-identifier-naming)

  [[nodiscard]] Error error() const {
    return {.code = ErrorCode::kCorrupt, .message = error_};
  }

  std::vector<Record> records;
  std::map<std::string, std::string> metadata;

 private:
  enum class Place : std::uint8_t {
    kStart,
    kTop,
    kTensor,
    kShape,
    kOffsets,
    kMetadata,
  };

  bool StartTop(string_t& name) {
    top_is_metadata_ = name == kMetadataKey;
    if (!top_is_metadata_) {
      records.emplace_back().name = std::move(name);
      return true;
    }
    return !std::exchange(has_metadata_, true) ||
           Fatal("the header has two entries '__metadata__'");
  }

  // Stops with a message about the current entry.
  bool Stop(std::string_view message) {
    if (top_is_metadata_)
      return Fatal(std::format("__metadata__: {}", message));
    if (records.empty()) return Fatal(std::string(message));
    return Fatal(std::format("tensor '{}': {}", records.back().name, message));
  }
  bool Unexpected(std::string_view what) {
    return Stop(std::format("{} where none belongs in the header", what));
  }
  bool Fatal(std::string message) {
    error_ = std::move(message);
    return false;
  }

  Place place_ = Place::kStart;
  bool top_is_metadata_ = false;
  bool has_metadata_ = false;
  std::string field_;
  std::string error_;
};

Result<DType> ParseDType(std::string_view name) {
  for (const SafetensorsDType& entry : kSafetensorsDTypes) {
    if (entry.name == name) return entry.dtype;
  }
  for (const std::string_view small : {"F8_", "F6_", "F4"}) {
    if (name.starts_with(small)) {
      return Fail(ErrorCode::kUnsupported,
                  std::format("has the dtype {}, which this version does not "
                              "read; convert it to F16 or F32",
                              name));
    }
  }
  return Fail(ErrorCode::kUnsupported,
              std::format("has the unknown dtype '{}'", name));
}

Status CheckUniqueNames(std::span<const Record> records) {
  std::vector<std::string_view> names;
  names.reserve(records.size());
  for (const Record& record : records) names.push_back(record.name);
  std::ranges::sort(names);
  const auto twin = std::ranges::adjacent_find(names);
  if (twin == names.end()) return {};
  return Fail(ErrorCode::kCorrupt,
              std::format("the tensor '{}' is listed twice", *twin));
}

// In the order of their offsets, every tensor begins where the one before ends,
// and the last ends with the data.
Status CheckCoverage(std::span<const Record> records, std::uint64_t data_size) {
  std::vector<const Record*> order;
  order.reserve(records.size());
  for (const Record& record : records) order.push_back(&record);
  std::ranges::sort(order, {},
                    [](const Record* record) { return record->offsets; });
  std::uint64_t end = 0;
  for (const Record* record : order) {
    const std::uint64_t begin = record->offsets[0];
    if (begin != end) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("tensor '{}': begins at offset {} where the data "
                              "before it ends at {}",
                              record->name, begin, end));
    }
    end = record->offsets[1];
    if (end < begin || end > data_size) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("tensor '{}': data_offsets [{}, {}] do not fit "
                              "the {} bytes of data",
                              record->name, begin, end, data_size));
    }
  }
  if (end == data_size) return {};
  return Fail(
      ErrorCode::kCorrupt,
      std::format("{} bytes of data belong to no tensor", data_size - end));
}

// `record`'s offsets were checked against `data`.
Result<Tensor> MakeTensor(Record& record, std::span<const std::byte> data,
                          const std::shared_ptr<const void>& owner) {
  PARITY_ASSIGN_OR_RETURN(const DType dtype, ParseDType(record.dtype));
  const auto begin = static_cast<std::size_t>(record.offsets[0]);
  const auto end = static_cast<std::size_t>(record.offsets[1]);
  PARITY_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::Borrow(dtype, std::move(record.shape),
                                    data.subspan(begin, end - begin), owner));
  PARITY_RETURN_IF_ERROR(CheckBools(tensor.view()));
  return tensor;
}

Result<std::span<const std::byte>> TakeHeader(ByteReader& reader) {
  PARITY_ASSIGN_OR_RETURN(const auto size, reader.Read<std::uint64_t>());
  if (size > kMaxHeader) {
    return Fail(ErrorCode::kCorrupt,
                std::format("declares a header of {} bytes; at most {} are "
                            "allowed",
                            size, kMaxHeader));
  }
  PARITY_ASSIGN_OR_RETURN(const auto header, reader.Take(size));
  // The parser takes a zero byte for the end of its input.
  if (header.empty() || header.front() != std::byte{'{'} ||
      std::ranges::contains(header, std::byte{0})) {
    return Fail(ErrorCode::kCorrupt, "the header is no JSON object");
  }
  return header;
}

}  // namespace

Result<SafetensorsFile> ReadSafetensors(
    std::span<const std::byte> file, const std::shared_ptr<const void>& owner) {
  ByteReader reader(file);
  PARITY_ASSIGN_OR_RETURN(const auto header, TakeHeader(reader));
  HeaderHandler handler;
  const auto* const text = reinterpret_cast<const char*>(header.data());
  if (!nlohmann::json::sax_parse(text, text + header.size(), &handler))
    return std::unexpected(handler.error());
  PARITY_RETURN_IF_ERROR(CheckUniqueNames(handler.records));
  PARITY_ASSIGN_OR_RETURN(const auto data, reader.Take(reader.remaining()));
  PARITY_RETURN_IF_ERROR(CheckCoverage(handler.records, data.size()));
  SafetensorsFile result;
  result.tensors.reserve(handler.records.size());
  for (Record& record : handler.records) {
    Result<Tensor> tensor = MakeTensor(record, data, owner);
    if (!tensor) {
      return std::unexpected(std::move(tensor).error().In(
          std::format("tensor '{}'", record.name)));
    }
    result.tensors.push_back(
        {.name = std::move(record.name), .tensor = *std::move(tensor)});
  }
  result.metadata = std::move(handler.metadata);
  return result;
}

Result<SafetensorsFile> ReadSafetensorsFile(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const auto file, FileMapping::Open(path));
  Result<SafetensorsFile> result = ReadSafetensors(file->bytes(), file);
  if (!result) {
    return std::unexpected(ExplainWrongKind(std::move(result).error(),
                                            file->bytes(),
                                            FileKind::kSafetensors)
                               .In(path.string()));
  }
  return result;
}

}  // namespace parity
