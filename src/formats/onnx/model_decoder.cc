#include "formats/onnx/model_decoder.h"

#include <cstdint>
#include <format>
#include <map>
#include <protozero/data_view.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/proto_text.h"
#include "formats/onnx/tensor_proto.h"
#include "formats/onnx/value_info_proto.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

constexpr std::int64_t kMaxParts = 1'000'000;
constexpr int kMaxDepth = 64;

// The scalar fields of ModelProto.
void ReadModelField(protozero::pbf_reader& reader, Model& model) {
  switch (reader.tag_and_type()) {
    case Varint(kModelIrVersion):
      model.ir_version = reader.get_int64();
      return;
    case Bytes(kModelProducerName):
      model.producer_name = ReadText(reader);
      return;
    case Bytes(kModelProducerVersion):
      model.producer_version = ReadText(reader);
      return;
    case Bytes(kModelDomain):
      model.domain = ReadText(reader);
      return;
    case Varint(kModelVersion):
      model.model_version = reader.get_int64();
      return;
    case Bytes(kModelDocString):
      model.doc_string = ReadText(reader);
      return;
    case Bytes(kModelMetadata):
      DecodeEntry(View(reader.get_view()), &model.metadata);
      return;
    default:
      reader.skip();
  }
}

// The scalar fields of FunctionProto.
void ReadFunctionField(protozero::pbf_reader& reader, Function& function) {
  switch (reader.tag_and_type()) {
    case Bytes(kFunctionName):
      function.name = ReadText(reader);
      return;
    case Bytes(kFunctionDomain):
      function.domain = ReadText(reader);
      return;
    case Bytes(kFunctionOverload):
      function.overload = ReadText(reader);
      return;
    case Bytes(kFunctionDocString):
      function.doc_string = ReadText(reader);
      return;
    case Bytes(kFunctionInput):
      function.inputs.push_back(ReadText(reader));
      return;
    case Bytes(kFunctionOutput):
      function.outputs.push_back(ReadText(reader));
      return;
    case Bytes(kFunctionAttribute):
      function.attributes.push_back(ReadText(reader));
      return;
    case Bytes(kFunctionOpsetImport):
      function.opset_imports.push_back(DecodeOpset(View(reader.get_view())));
      return;
    default:
      reader.skip();
  }
}

}  // namespace

void DecodeEntry(std::string_view message,
                 std::map<std::string, std::string>* entries) {
  std::string key;
  std::string value;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kEntryKey):
        key = ReadText(reader);
        break;
      case Bytes(kEntryValue):
        value = ReadText(reader);
        break;
      default:
        reader.skip();
    }
  }
  entries->insert_or_assign(std::move(key), std::move(value));
}

OpsetImport DecodeOpset(std::string_view message) {
  OpsetImport opset;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kOpsetDomain):
        opset.domain = ReadText(reader);
        break;
      case Varint(kOpsetVersion):
        opset.version = reader.get_int64();
        break;
      default:
        reader.skip();
    }
  }
  return opset;
}

Status ModelDecoder::CountPart() {
  if (++part_count_ <= kMaxParts) return {};
  return Fail(
      ErrorCode::kUnsupported,
      std::format(
          "has more than {} nodes, attributes, tensors and declared values",
          kMaxParts));
}

Status ModelDecoder::AddInitializer(Result<DecodedTensor> tensor,
                                    Graph* graph) {
  PARITY_RETURN_IF_ERROR(CountPart());
  PARITY_ASSIGN_OR_RETURN(DecodedTensor decoded, std::move(tensor));
  if (decoded.encoded.has_value()) {
    warnings_.push_back(std::format(
        "initializer '{}' ({} of shape {}) is listed without values: {}",
        decoded.name, decoded.encoded->dtype, ToString(decoded.encoded->shape),
        decoded.encoded->reason));
  }
  graph->initializers.push_back({.name = std::move(decoded.name),
                                 .tensor = std::move(decoded.tensor),
                                 .encoded = std::move(decoded.encoded)});
  return {};
}

Status ModelDecoder::AddValueInfo(std::string_view message,
                                  std::vector<ValueInfo>* infos) {
  PARITY_RETURN_IF_ERROR(CountPart());
  infos->push_back(DecodeValueInfo(message));
  return {};
}

Status ModelDecoder::DecodeGraph(std::string_view message, int depth,
                                 Graph* graph) {
  if (depth > kMaxDepth) {
    return Fail(ErrorCode::kUnsupported,
                std::format("has graphs nested more than {} deep", kMaxDepth));
  }
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kGraphNode): {
        PARITY_ASSIGN_OR_RETURN(Node node,
                                DecodeNode(View(reader.get_view()), depth));
        graph->nodes.push_back(std::move(node));
        break;
      }
      case Bytes(kGraphName):
        graph->name = ReadText(reader);
        break;
      case Bytes(kGraphInitializer):
        PARITY_RETURN_IF_ERROR(AddInitializer(
            DecodeTensor(View(reader.get_view()), source_), graph));
        break;
      case Bytes(kGraphSparseInitializer):
        PARITY_RETURN_IF_ERROR(AddInitializer(
            DecodeSparseTensor(View(reader.get_view()), source_), graph));
        break;
      case Bytes(kGraphDocString):
        graph->doc_string = ReadText(reader);
        break;
      case Bytes(kGraphInput):
        PARITY_RETURN_IF_ERROR(
            AddValueInfo(View(reader.get_view()), &graph->inputs));
        break;
      case Bytes(kGraphOutput):
        PARITY_RETURN_IF_ERROR(
            AddValueInfo(View(reader.get_view()), &graph->outputs));
        break;
      case Bytes(kGraphValueInfo):
        PARITY_RETURN_IF_ERROR(
            AddValueInfo(View(reader.get_view()), &graph->value_infos));
        break;
      default:
        reader.skip();
    }
  }
  return {};
}

Result<Function> ModelDecoder::DecodeFunction(std::string_view message) {
  PARITY_RETURN_IF_ERROR(CountPart());
  Function function;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kFunctionNode): {
        PARITY_ASSIGN_OR_RETURN(
            Node node, DecodeNode(View(reader.get_view()), /*depth=*/0));
        function.nodes.push_back(std::move(node));
        break;
      }
      case Bytes(kFunctionDefaultAttribute): {
        PARITY_ASSIGN_OR_RETURN(
            Attribute attribute,
            DecodeAttribute(View(reader.get_view()), /*depth=*/0));
        function.default_attributes.push_back(std::move(attribute));
        break;
      }
      case Bytes(kFunctionValueInfo):
        PARITY_RETURN_IF_ERROR(
            AddValueInfo(View(reader.get_view()), &function.value_infos));
        break;
      default:
        ReadFunctionField(reader, function);
    }
  }
  return function;
}

Result<Model> ModelDecoder::DecodeModel(std::string_view message,
                                        ModelPresence* presence) {
  Model model;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(kModelGraph):
        presence->graph = true;
        PARITY_RETURN_IF_ERROR(
            DecodeGraph(View(reader.get_view()), /*depth=*/0, &model.graph));
        break;
      case Bytes(kModelOpsetImport):
        presence->opset_import = true;
        model.opset_imports.push_back(DecodeOpset(View(reader.get_view())));
        break;
      case Bytes(kModelFunctions): {
        PARITY_ASSIGN_OR_RETURN(Function function,
                                DecodeFunction(View(reader.get_view())));
        model.functions.push_back(std::move(function));
        break;
      }
      case Bytes(kModelTrainingInfo):
        warnings_.emplace_back("training information is not read");
        reader.skip();
        break;
      default:
        presence->ir_version |=
            reader.tag_and_type() == Varint(kModelIrVersion);
        ReadModelField(reader, model);
    }
  }
  model.warnings = std::move(warnings_);
  return model;
}

}  // namespace parity::onnx
