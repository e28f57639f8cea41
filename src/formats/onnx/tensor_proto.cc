// A TensorProto is scanned once into views of its fields, then the field its
// dtype calls for is borrowed or decoded. Lengths are compared with the
// declared shape before anything of the shape's size is allocated.
#include "formats/onnx/tensor_proto.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <format>
#include <optional>
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/onnx/external_data.h"
#include "formats/onnx/onnx_dtype.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/proto_text.h"
#include "graph/encoded.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The little-endian values of a repeated float or double field: one packed
// block is only viewed, more are joined.
class FixedValues {
 public:
  void AddBlock(std::string_view block) {
    if (joined_.empty() && block_.empty()) {
      block_ = block;
    } else {
      AddCopy(block);
    }
  }
  void AddCopy(std::string_view block) {
    joined_ += std::exchange(block_, {});
    joined_ += block;
  }
  [[nodiscard]] bool is_view() const { return joined_.empty(); }
  [[nodiscard]] std::string_view bytes() const {
    return is_view() ? block_ : std::string_view(joined_);
  }

 private:
  std::string_view block_;
  std::string joined_;
};

struct TensorFields {
  std::string name;
  Shape shape;
  std::int32_t data_type = 0;
  std::int32_t data_location = 0;
  bool is_segment = false;
  std::optional<std::string_view> raw;
  FixedValues floats;
  FixedValues doubles;
  std::vector<std::uint64_t>
      int32s;  // every integer as the 64 bits of its varint
  std::vector<std::uint64_t> int64s;
  std::vector<std::uint64_t> uint64s;
  std::vector<std::pair<std::string, std::string>> external;
};

std::pair<std::string, std::string> ReadEntry(
    const protozero::data_view& message) {
  std::pair<std::string, std::string> entry;
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kEntryKey):
        entry.first = ReadText(reader);
        break;
      case Bytes(kEntryValue):
        entry.second = ReadText(reader);
        break;
      default:
        reader.skip();
    }
  }
  return entry;
}

void AddPacked(protozero::pbf_reader& reader,
               std::vector<std::uint64_t>& values) {
  for (const std::uint64_t value : reader.get_packed_uint64())
    values.push_back(value);
}

template <class T>
void AddFixed(T value, FixedValues& values) {
  values.AddCopy({reinterpret_cast<const char*>(&value), sizeof(T)});
}

// The fields that hold elements; false for any other field.
bool ReadValues(protozero::pbf_reader& reader, TensorFields& fields) {
  switch (reader.tag_and_type()) {
    case Bytes(kTensorRawData):
      fields.raw = View(reader.get_view());
      return true;
    case Bytes(kTensorFloatData):
      fields.floats.AddBlock(View(reader.get_view()));
      return true;
    case Fixed32(kTensorFloatData):
      AddFixed(reader.get_float(), fields.floats);
      return true;
    case Bytes(kTensorDoubleData):
      fields.doubles.AddBlock(View(reader.get_view()));
      return true;
    case Fixed64(kTensorDoubleData):
      AddFixed(reader.get_double(), fields.doubles);
      return true;
    case Bytes(kTensorInt32Data):
      AddPacked(reader, fields.int32s);
      return true;
    case Varint(kTensorInt32Data):
      fields.int32s.push_back(reader.get_uint64());
      return true;
    case Bytes(kTensorInt64Data):
      AddPacked(reader, fields.int64s);
      return true;
    case Varint(kTensorInt64Data):
      fields.int64s.push_back(reader.get_uint64());
      return true;
    case Bytes(kTensorUint64Data):
      AddPacked(reader, fields.uint64s);
      return true;
    case Varint(kTensorUint64Data):
      fields.uint64s.push_back(reader.get_uint64());
      return true;
    default:
      return false;
  }
}

TensorFields ReadFields(std::string_view message) {
  TensorFields fields;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (ReadValues(reader, fields)) continue;
    switch (reader.tag_and_type()) {
      case Varint(kTensorDims):
        fields.shape.push_back(reader.get_int64());
        break;
      case Bytes(kTensorDims):
        for (const std::int64_t axis : reader.get_packed_int64())
          fields.shape.push_back(axis);
        break;
      case Varint(kTensorDataType):
        fields.data_type = reader.get_int32();
        break;
      case Bytes(kTensorSegment):
        fields.is_segment = true;
        reader.skip();
        break;
      case Bytes(kTensorName):
        fields.name = ReadText(reader);
        break;
      case Bytes(kTensorExternalData):
        fields.external.push_back(ReadEntry(reader.get_view()));
        break;
      case Varint(kTensorDataLocation):
        fields.data_location = reader.get_int32();
        break;
      default:
        reader.skip();
    }
  }
  return fields;
}

Result<std::uint64_t> ParseNumber(const std::string& key,
                                  const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && next == end) return number;
  return Fail(
      ErrorCode::kCorrupt,
      std::format("its external data has {} '{}', not a number", key, text));
}

Result<ExternalReference> ReadReference(const TensorFields& fields) {
  ExternalReference reference;
  for (const auto& [key, value] : fields.external) {
    if (key == "location") reference.location = value;
    if (key == "offset") {
      PARITY_ASSIGN_OR_RETURN(reference.offset, ParseNumber(key, value));
    }
    if (key == "length") {
      PARITY_ASSIGN_OR_RETURN(reference.length, ParseNumber(key, value));
    }
  }
  return reference;
}

Status CheckCount(const TensorFields& fields, std::int64_t values_per_element,
                  std::string_view field, std::size_t present) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(fields.shape));
  // Divides instead of multiplying: count may be near 2^62.
  const auto elements = present / static_cast<std::size_t>(values_per_element);
  if (present % static_cast<std::size_t>(values_per_element) == 0 &&
      elements == static_cast<std::size_t>(count)) {
    return {};
  }
  return Fail(ErrorCode::kCorrupt,
              std::format("shape {} has {} elements, but {} has {} values",
                          ToString(fields.shape), count, field, present));
}

template <class T>
Result<Tensor> DecodeIntegers(DType dtype, const TensorFields& fields,
                              std::string_view field,
                              const std::vector<std::uint64_t>& values) {
  PARITY_RETURN_IF_ERROR(CheckCount(fields, 1, field, values.size()));
  PARITY_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, fields.shape));
  const std::span<T> elements = tensor.MutableAs<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    elements[i] = dtype == DType::kBool ? static_cast<T>(values[i] != 0)
                                        : static_cast<T>(values[i]);
  }
  return tensor;
}

Result<Tensor> DecodeFixed(DType dtype, const TensorFields& fields,
                           std::string_view field, const FixedValues& values,
                           std::int64_t value_size,
                           const TensorSource& source) {
  const std::string_view bytes = values.bytes();
  PARITY_RETURN_IF_ERROR(
      CheckCount(fields, ByteSize(dtype) / value_size, field,
                 bytes.size() / static_cast<std::size_t>(value_size)));
  if (values.is_view())
    return Tensor::Borrow(dtype, fields.shape, AsBytes(bytes), source.owner);
  return Tensor::Copy(dtype, fields.shape, AsBytes(bytes));
}

// The typed field that ONNX prescribes for each dtype.
Result<Tensor> DecodeTyped(DType dtype, const TensorFields& fields,
                           const TensorSource& source) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64:
      return DecodeFixed(dtype, fields, "float_data", fields.floats,
                         sizeof(float), source);
    case DType::kFloat64:
    case DType::kComplex128:
      return DecodeFixed(dtype, fields, "double_data", fields.doubles,
                         sizeof(double), source);
    case DType::kInt64:
      return DecodeIntegers<std::int64_t>(dtype, fields, "int64_data",
                                          fields.int64s);
    case DType::kUInt64:
      return DecodeIntegers<std::uint64_t>(dtype, fields, "uint64_data",
                                           fields.uint64s);
    case DType::kUInt32:
      return DecodeIntegers<std::uint32_t>(dtype, fields, "uint64_data",
                                           fields.uint64s);
    case DType::kInt32:
      return DecodeIntegers<std::int32_t>(dtype, fields, "int32_data",
                                          fields.int32s);
    case DType::kInt16:
    case DType::kUInt16:
    case DType::kFloat16:
    case DType::kBFloat16:
      return DecodeIntegers<std::uint16_t>(dtype, fields, "int32_data",
                                           fields.int32s);
    case DType::kInt8:
    case DType::kUInt8:
    case DType::kBool:
      return DecodeIntegers<std::uint8_t>(dtype, fields, "int32_data",
                                          fields.int32s);
  }
  return Fail(ErrorCode::kUnsupported, "unknown dtype");
}

std::string ReasonToKeepEncoded(const TensorFields& fields, bool external,
                                const TensorSource& source) {
  if (!DTypeFromNumber(fields.data_type)) {
    return std::format("tensors of {} are not supported",
                       NumberName(fields.data_type));
  }
  if (fields.is_segment) return "tensors stored in segments are not supported";
  if (external && source.external == nullptr)
    return "its external data was not loaded";
  return {};
}

Result<DecodedTensor> Decode(std::string_view message,
                             const TensorSource& source, TensorFields& fields) {
  if (fields.data_type == 0) return Fail(ErrorCode::kCorrupt, "has no dtype");
  DecodedTensor decoded{.name = fields.name, .tensor = {}, .encoded = {}};
  const bool external = fields.data_location == 1;
  ExternalReference reference;
  if (external) {
    PARITY_ASSIGN_OR_RETURN(reference, ReadReference(fields));
  }
  const std::optional<DType> dtype = DTypeFromNumber(fields.data_type);
  std::string reason = ReasonToKeepEncoded(fields, external, source);
  if (!dtype.has_value() || !reason.empty()) {
    PARITY_RETURN_IF_ERROR(ElementCount(fields.shape));
    decoded.encoded = EncodedTensor{
        .dtype = NumberName(fields.data_type),
        .shape = std::move(fields.shape),
        .location = reference.location,
        .reason = std::move(reason),
        .message = {.bytes = AsBytes(message), .owner = source.owner}};
    return decoded;
  }
  if (external) {
    PARITY_ASSIGN_OR_RETURN(
        decoded.tensor,
        source.external->Read(*dtype, std::move(fields.shape), reference));
  } else if (fields.raw.has_value()) {
    PARITY_ASSIGN_OR_RETURN(decoded.tensor,
                            Tensor::Borrow(*dtype, std::move(fields.shape),
                                           AsBytes(*fields.raw), source.owner));
  } else {
    PARITY_ASSIGN_OR_RETURN(decoded.tensor,
                            DecodeTyped(*dtype, fields, source));
  }
  return decoded;
}

}  // namespace

Result<DecodedTensor> DecodeTensor(std::string_view message,
                                   const TensorSource& source) {
  TensorFields fields = ReadFields(message);
  Result<DecodedTensor> decoded = Decode(message, source, fields);
  if (!decoded)
    return std::unexpected(
        std::move(decoded).error().In(std::format("tensor '{}'", fields.name)));
  return decoded;
}

Result<DecodedTensor> DecodeSparseTensor(std::string_view message,
                                         const TensorSource& source) {
  DecodedTensor decoded;
  EncodedTensor encoded{
      .dtype = "undefined",
      .sparse = true,
      .reason = "sparse tensors are not supported",
      .message = {.bytes = AsBytes(message), .owner = source.owner}};
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kSparseValues): {
        const TensorFields values = ReadFields(View(reader.get_view()));
        decoded.name = values.name;
        encoded.dtype = NumberName(values.data_type);
        break;
      }
      case Varint(kSparseDims):
        encoded.shape.push_back(reader.get_int64());
        break;
      case Bytes(kSparseDims):
        for (const std::int64_t axis : reader.get_packed_int64())
          encoded.shape.push_back(axis);
        break;
      default:
        reader.skip();
    }
  }
  if (auto count = ElementCount(encoded.shape); !count) {
    return std::unexpected(std::move(count).error().In(
        std::format("sparse tensor '{}'", decoded.name)));
  }
  decoded.encoded = std::move(encoded);
  return decoded;
}

}  // namespace parity::onnx
