#include "formats/onnx/value_info_proto.h"

#include <cstdint>
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/onnx_dtype.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/proto_text.h"
#include "graph/model.h"

namespace parity::onnx {
namespace {

Dimension DecodeDimension(const protozero::data_view& message) {
  Dimension dimension;
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(kDimensionValue): {
        const std::int64_t value = reader.get_int64();
        if (value >= 0) dimension.value = value;
        break;
      }
      case Bytes(kDimensionName):
        dimension.name = ReadText(reader);
        break;
      default:
        reader.skip();
    }
  }
  return dimension;
}

std::vector<Dimension> DecodeShape(const protozero::data_view& message) {
  std::vector<Dimension> shape;
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    if (reader.tag_and_type() == Bytes(kShapeDimension)) {
      shape.push_back(DecodeDimension(reader.get_view()));
    } else {
      reader.skip();
    }
  }
  return shape;
}

// TypeProto.Tensor and TypeProto.SparseTensor.
void DecodeTensorType(const protozero::data_view& message, bool sparse,
                      ValueInfo& info) {
  std::int32_t element = 0;
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(kTensorTypeElement):
        element = reader.get_int32();
        break;
      case Bytes(kTensorTypeShape):
        info.shape = DecodeShape(reader.get_view());
        break;
      default:
        reader.skip();
    }
  }
  if (sparse) {
    info.other_type = "sparse_tensor";
    return;
  }
  info.dtype = DTypeFromNumber(element);
  // Undefined is how shapes without dtypes are written.
  if (!info.dtype.has_value() && element != 0)
    info.other_type = NumberName(element);
}

void DecodeType(const protozero::data_view& message, ValueInfo& info) {
  protozero::pbf_reader reader(message);
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kTypeTensor):
        DecodeTensorType(reader.get_view(), /*sparse=*/false, info);
        continue;
      case Bytes(kTypeSparseTensor):
        DecodeTensorType(reader.get_view(), /*sparse=*/true, info);
        continue;
      case Bytes(kTypeSequence):
        info.other_type = "sequence";
        break;
      case Bytes(kTypeMap):
        info.other_type = "map";
        break;
      case Bytes(kTypeOptional):
        info.other_type = "optional";
        break;
      case Bytes(kTypeOpaque):
        info.other_type = "opaque";
        break;
      default:
        break;
    }
    reader.skip();
  }
  if (!info.other_type.empty()) {
    info.dtype.reset();
    info.encoded_type = View(message);
  }
}

}  // namespace

ValueInfo DecodeValueInfo(std::string_view message) {
  ValueInfo info;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kValueInfoName):
        info.name = ReadText(reader);
        break;
      case Bytes(kValueInfoType):
        DecodeType(reader.get_view(), info);
        break;
      default:
        reader.skip();
    }
  }
  return info;
}

}  // namespace parity::onnx
