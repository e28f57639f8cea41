// The part of ModelDecoder that reads nodes and their attributes.
#include <cstdint>
#include <expected>
#include <format>
#include <memory>
#include <optional>
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/onnx/model_decoder.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/proto_text.h"
#include "formats/onnx/tensor_proto.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

// The scalar fields of NodeProto.
void ReadNodeField(protozero::pbf_reader& reader, Node& node) {
  switch (reader.tag_and_type()) {
    case Bytes(kNodeInput):
      node.inputs.push_back(ReadText(reader));
      return;
    case Bytes(kNodeOutput):
      node.outputs.push_back(ReadText(reader));
      return;
    case Bytes(kNodeName):
      node.name = ReadText(reader);
      return;
    case Bytes(kNodeOpType):
      node.op_type = ReadText(reader);
      return;
    case Bytes(kNodeDomain):
      node.domain = ReadText(reader);
      return;
    case Bytes(kNodeOverload):
      node.overload = ReadText(reader);
      return;
    case Bytes(kNodeDocString):
      node.doc_string = ReadText(reader);
      return;
    case Bytes(kNodeMetadata):
      DecodeEntry(View(reader.get_view()), &node.metadata);
      return;
    default:
      reader.skip();
  }
}

// The name comes after the inputs in a file, so an error in an attribute is
// labelled once the node is known.
std::string Label(const Node& node) {
  return node.name.empty() ? std::format("a node of type '{}'", node.op_type)
                           : std::format("node '{}'", node.name);
}

}  // namespace

struct ModelDecoder::AttributeFields {
  std::string_view message;
  std::string name;
  std::string reference;
  AttributeType type = AttributeType::kUndefined;
  AttributeType seen = AttributeType::kUndefined;  // of the last value field:
                                                   // IR version 1 has no `type`
  float float_value = 0;
  std::int64_t int_value = 0;
  std::string string_value;
  std::optional<std::string_view> tensor;
  std::optional<std::string_view> graph;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  std::vector<std::string_view> tensors;
  std::vector<std::string_view> graphs;

  void ReadList(protozero::pbf_reader& reader);
  void ReadField(protozero::pbf_reader& reader);
};

void ModelDecoder::AttributeFields::ReadList(protozero::pbf_reader& reader) {
  switch (reader.tag_and_type()) {
    case Fixed32(kAttributeFloats):
      seen = AttributeType::kFloats;
      floats.push_back(reader.get_float());
      return;
    case Bytes(kAttributeFloats):
      seen = AttributeType::kFloats;
      for (const float value : reader.get_packed_float())
        floats.push_back(value);
      return;
    case Varint(kAttributeInts):
      seen = AttributeType::kInts;
      ints.push_back(reader.get_int64());
      return;
    case Bytes(kAttributeInts):
      seen = AttributeType::kInts;
      for (const std::int64_t value : reader.get_packed_int64())
        ints.push_back(value);
      return;
    case Bytes(kAttributeStrings):
      seen = AttributeType::kStrings;
      strings.emplace_back(View(reader.get_view()));
      return;
    case Bytes(kAttributeTensors):
      seen = AttributeType::kTensors;
      tensors.push_back(View(reader.get_view()));
      return;
    case Bytes(kAttributeGraphs):
      seen = AttributeType::kGraphs;
      graphs.push_back(View(reader.get_view()));
      return;
    default:
      reader.skip();
  }
}

void ModelDecoder::AttributeFields::ReadField(protozero::pbf_reader& reader) {
  switch (reader.tag_and_type()) {
    case Bytes(kAttributeName):
      name = ReadText(reader);
      return;
    case Varint(kAttributeType):
      type = static_cast<AttributeType>(reader.get_int32());
      return;
    case Bytes(kAttributeReference):
      reference = ReadText(reader);
      return;
    case Fixed32(kAttributeFloat):
      seen = AttributeType::kFloat;
      float_value = reader.get_float();
      return;
    case Varint(kAttributeInt):
      seen = AttributeType::kInt;
      int_value = reader.get_int64();
      return;
    case Bytes(kAttributeString):
      seen = AttributeType::kString;
      string_value = View(reader.get_view());
      return;
    case Bytes(kAttributeTensor):
      seen = AttributeType::kTensor;
      tensor = View(reader.get_view());
      return;
    case Bytes(kAttributeGraph):
      seen = AttributeType::kGraph;
      graph = View(reader.get_view());
      return;
    default:
      ReadList(reader);
  }
}

ModelDecoder::AttributeFields ModelDecoder::ReadAttributeFields(
    std::string_view message) {
  AttributeFields fields;
  fields.message = message;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) fields.ReadField(reader);
  if (fields.type == AttributeType::kUndefined) fields.type = fields.seen;
  return fields;
}

AttributeValue ModelDecoder::KeepEncoded(std::string kind,
                                         const AttributeFields& fields,
                                         bool external) {
  const auto bytes =
      std::as_bytes(std::span(fields.message.data(), fields.message.size()));
  return EncodedAttribute{.kind = std::move(kind),
                          .external = external,
                          .message = {.bytes = bytes, .owner = source_.owner}};
}

Result<AttributeValue> ModelDecoder::DecodeTensorValue(
    const AttributeFields& fields) {
  if (!fields.tensor.has_value())
    return Fail(ErrorCode::kCorrupt, "is of type tensor, but has none");
  PARITY_RETURN_IF_ERROR(CountPart());
  PARITY_ASSIGN_OR_RETURN(DecodedTensor decoded,
                          DecodeTensor(*fields.tensor, source_));
  if (decoded.encoded.has_value()) {
    return KeepEncoded(decoded.encoded->dtype + " tensor", fields,
                       !decoded.encoded->location.empty());
  }
  return std::move(decoded.tensor);
}

Result<AttributeValue> ModelDecoder::DecodeTensorList(
    const AttributeFields& fields) {
  std::vector<Tensor> tensors;
  for (const std::string_view message : fields.tensors) {
    PARITY_RETURN_IF_ERROR(CountPart());
    PARITY_ASSIGN_OR_RETURN(DecodedTensor decoded,
                            DecodeTensor(message, source_));
    if (decoded.encoded.has_value()) {
      return KeepEncoded("list with a " + decoded.encoded->dtype + " tensor",
                         fields, !decoded.encoded->location.empty());
    }
    tensors.push_back(std::move(decoded.tensor));
  }
  return tensors;
}

Result<AttributeValue> ModelDecoder::DecodeGraphValue(
    const AttributeFields& fields, int depth) {
  if (!fields.graph.has_value())
    return Fail(ErrorCode::kCorrupt, "is of type graph, but has none");
  PARITY_RETURN_IF_ERROR(CountPart());
  auto graph = std::make_shared<Graph>();
  PARITY_RETURN_IF_ERROR(DecodeGraph(*fields.graph, depth + 1, graph.get()));
  return graph;
}

Result<AttributeValue> ModelDecoder::DecodeGraphList(
    const AttributeFields& fields, int depth) {
  std::vector<std::shared_ptr<Graph>> graphs;
  for (const std::string_view message : fields.graphs) {
    PARITY_RETURN_IF_ERROR(CountPart());
    graphs.push_back(std::make_shared<Graph>());
    PARITY_RETURN_IF_ERROR(
        DecodeGraph(message, depth + 1, graphs.back().get()));
  }
  return graphs;
}

Result<AttributeValue> ModelDecoder::DecodeValue(AttributeType type,
                                                 const AttributeFields& fields,
                                                 int depth) {
  switch (type) {
    case AttributeType::kFloat:
      return fields.float_value;
    case AttributeType::kInt:
      return fields.int_value;
    case AttributeType::kString:
      return fields.string_value;
    case AttributeType::kTensor:
      return DecodeTensorValue(fields);
    case AttributeType::kGraph:
      return DecodeGraphValue(fields, depth);
    case AttributeType::kFloats:
      return fields.floats;
    case AttributeType::kInts:
      return fields.ints;
    case AttributeType::kStrings:
      return fields.strings;
    case AttributeType::kTensors:
      return DecodeTensorList(fields);
    case AttributeType::kGraphs:
      return DecodeGraphList(fields, depth);
    case AttributeType::kSparseTensor:
      return KeepEncoded("sparse tensor", fields);
    case AttributeType::kSparseTensors:
      return KeepEncoded("list of sparse tensors", fields);
    case AttributeType::kTypeProto:
      return KeepEncoded("type", fields);
    case AttributeType::kTypeProtos:
      return KeepEncoded("list of types", fields);
    case AttributeType::kUndefined:
      break;
  }
  return KeepEncoded(std::format("value of type {}", static_cast<int>(type)),
                     fields);
}

Result<Attribute> ModelDecoder::DecodeAttribute(std::string_view message,
                                                int depth) {
  PARITY_RETURN_IF_ERROR(CountPart());
  AttributeFields fields = ReadAttributeFields(message);
  Result<AttributeValue> value =
      fields.reference.empty()
          ? DecodeValue(fields.type, fields, depth)
          : KeepEncoded(std::format("reference to '{}'", fields.reference),
                        fields);
  if (!value)
    return std::unexpected(std::move(value).error().In(
        std::format("attribute '{}'", fields.name)));
  return Attribute{.name = std::move(fields.name), .value = *std::move(value)};
}

Result<Node> ModelDecoder::DecodeNode(std::string_view message, int depth) {
  PARITY_RETURN_IF_ERROR(CountPart());
  Node node;
  std::vector<std::string_view> attributes;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag_and_type() == Bytes(kNodeAttribute)) {
      attributes.push_back(View(reader.get_view()));
    } else {
      ReadNodeField(reader, node);
    }
  }
  for (const std::string_view attribute : attributes) {
    auto decoded = DecodeAttribute(attribute, depth);
    if (!decoded)
      return std::unexpected(std::move(decoded).error().In(Label(node)));
    node.attributes.push_back(*std::move(decoded));
  }
  return node;
}

}  // namespace parity::onnx
