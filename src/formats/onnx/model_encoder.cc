#include "formats/onnx/model_encoder.h"

#include <cassert>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_dtype.h"
#include "formats/onnx/onnx_fields.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

MessageWriter EncodeGraph(const Graph& graph) {
  MessageWriter message = EncodeGraphBeforeInitializers(graph);
  for (const Initializer& initializer : graph.initializers) {
    if (!initializer.encoded.has_value() || !initializer.encoded->sparse)
      AddInitializer(initializer, &message);
  }
  message.AddFields(EncodeGraphAfterInitializers(graph));
  return message;
}

void AddEntries(std::uint32_t field,
                const std::map<std::string, std::string>& entries,
                MessageWriter& message) {
  for (const auto& [key, value] : entries) {
    MessageWriter entry;
    entry.AddText(kEntryKey, key);
    entry.AddText(kEntryValue, value);
    message.AddMessage(field, entry);
  }
}

void AddOpsets(std::uint32_t field, const std::vector<OpsetImport>& opsets,
               MessageWriter& message) {
  for (const OpsetImport& import : opsets) {
    MessageWriter opset;
    opset.AddTextIfSet(kOpsetDomain, import.domain);
    opset.AddInteger(kOpsetVersion, import.version);
    message.AddMessage(field, opset);
  }
}

// Adds the value field of an attribute and returns the type that belongs to it.
// The type is the last field.
class ValueEncoder {
 public:
  explicit ValueEncoder(MessageWriter* message) : message_(*message) {}

  AttributeType operator()(float value) {
    message_.AddFloat(kAttributeFloat, value);
    return AttributeType::kFloat;
  }
  AttributeType operator()(std::int64_t value) {
    message_.AddInteger(kAttributeInt, value);
    return AttributeType::kInt;
  }
  AttributeType operator()(const std::string& value) {
    message_.AddText(kAttributeString, value);
    return AttributeType::kString;
  }
  AttributeType operator()(const Tensor& value) {
    message_.AddMessage(kAttributeTensor, EncodeTensor("", value));
    return AttributeType::kTensor;
  }
  AttributeType operator()(const std::shared_ptr<Graph>& value) {
    assert(value != nullptr);
    message_.AddMessage(kAttributeGraph, EncodeGraph(*value));
    return AttributeType::kGraph;
  }
  AttributeType operator()(const std::vector<float>& values) {
    for (const float value : values) message_.AddFloat(kAttributeFloats, value);
    return AttributeType::kFloats;
  }
  AttributeType operator()(const std::vector<std::int64_t>& values) {
    for (const std::int64_t value : values)
      message_.AddInteger(kAttributeInts, value);
    return AttributeType::kInts;
  }
  AttributeType operator()(const std::vector<std::string>& values) {
    for (const std::string& value : values)
      message_.AddText(kAttributeStrings, value);
    return AttributeType::kStrings;
  }
  AttributeType operator()(const std::vector<Tensor>& values) {
    for (const Tensor& value : values)
      message_.AddMessage(kAttributeTensors, EncodeTensor("", value));
    return AttributeType::kTensors;
  }
  AttributeType operator()(const std::vector<std::shared_ptr<Graph>>& values) {
    for (const std::shared_ptr<Graph>& value : values) {
      assert(value != nullptr);
      message_.AddMessage(kAttributeGraphs, EncodeGraph(*value));
    }
    return AttributeType::kGraphs;
  }
  AttributeType operator()(const EncodedAttribute& /*value*/) {
    return AttributeType::kUndefined;  // AddAttribute() writes these whole
  }

 private:
  MessageWriter& message_;
};

void AddAttribute(std::uint32_t field, const Attribute& attribute,
                  MessageWriter& message) {
  if (const auto* encoded = std::get_if<EncodedAttribute>(&attribute.value)) {
    message.AddBytes(field, encoded->message.bytes);
    return;
  }
  MessageWriter encoded;
  encoded.AddText(kAttributeName, attribute.name);
  const AttributeType type =
      std::visit(ValueEncoder(&encoded), attribute.value);
  encoded.AddInteger(kAttributeType, static_cast<std::int64_t>(type));
  message.AddMessage(field, encoded);
}

void AddNode(std::uint32_t field, const Node& node, MessageWriter& message) {
  MessageWriter encoded;
  for (const std::string& input : node.inputs)
    encoded.AddText(kNodeInput, input);
  for (const std::string& output : node.outputs)
    encoded.AddText(kNodeOutput, output);
  encoded.AddTextIfSet(kNodeName, node.name);
  encoded.AddText(kNodeOpType, node.op_type);
  for (const Attribute& attribute : node.attributes)
    AddAttribute(kNodeAttribute, attribute, encoded);
  encoded.AddTextIfSet(kNodeDocString, node.doc_string);
  encoded.AddTextIfSet(kNodeDomain, node.domain);
  encoded.AddTextIfSet(kNodeOverload, node.overload);
  AddEntries(kNodeMetadata, node.metadata, encoded);
  message.AddMessage(field, encoded);
}

MessageWriter EncodeShape(const std::vector<Dimension>& shape) {
  MessageWriter message;
  for (const Dimension& dimension : shape) {
    MessageWriter encoded;
    if (dimension.value.has_value()) {
      encoded.AddInteger(kDimensionValue, *dimension.value);
    } else {
      encoded.AddTextIfSet(kDimensionName, dimension.name);
    }
    message.AddMessage(kShapeDimension, encoded);
  }
  return message;
}

void AddType(const ValueInfo& info, MessageWriter& message) {
  if (!info.encoded_type.empty()) {
    message.AddText(kValueInfoType, info.encoded_type);
    return;
  }
  std::int32_t element = 0;
  if (info.dtype.has_value()) {
    element = NumberFromDType(*info.dtype);
  } else {
    element = NumberFromName(info.other_type).value_or(0);
  }
  if (element == 0 && !info.shape.has_value()) return;
  MessageWriter tensor;
  tensor.AddInteger(kTensorTypeElement, element);
  if (info.shape.has_value())
    tensor.AddMessage(kTensorTypeShape, EncodeShape(*info.shape));
  MessageWriter type;
  type.AddMessage(kTypeTensor, tensor);
  message.AddMessage(kValueInfoType, type);
}

void AddValueInfos(std::uint32_t field, const std::vector<ValueInfo>& infos,
                   MessageWriter& message) {
  for (const ValueInfo& info : infos) {
    MessageWriter encoded;
    encoded.AddText(kValueInfoName, info.name);
    AddType(info, encoded);
    message.AddMessage(field, encoded);
  }
}

MessageWriter EncodeFunction(const Function& function) {
  MessageWriter message;
  message.AddText(kFunctionName, function.name);
  for (const std::string& input : function.inputs)
    message.AddText(kFunctionInput, input);
  for (const std::string& output : function.outputs)
    message.AddText(kFunctionOutput, output);
  for (const std::string& attribute : function.attributes)
    message.AddText(kFunctionAttribute, attribute);
  for (const Node& node : function.nodes) AddNode(kFunctionNode, node, message);
  message.AddTextIfSet(kFunctionDocString, function.doc_string);
  AddOpsets(kFunctionOpsetImport, function.opset_imports, message);
  message.AddTextIfSet(kFunctionDomain, function.domain);
  for (const Attribute& attribute : function.default_attributes) {
    AddAttribute(kFunctionDefaultAttribute, attribute, message);
  }
  AddValueInfos(kFunctionValueInfo, function.value_infos, message);
  message.AddTextIfSet(kFunctionOverload, function.overload);
  return message;
}

std::string FirstUnloaded(const std::vector<Node>& nodes);

std::string FirstUnloaded(const Graph& graph) {
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.encoded.has_value() &&
        !initializer.encoded->location.empty())
      return initializer.name;
  }
  return FirstUnloaded(graph.nodes);
}

std::string FirstUnloaded(const AttributeValue& value) {
  if (const auto* encoded = std::get_if<EncodedAttribute>(&value))
    return encoded->external ? encoded->kind : "";
  if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&value))
    return FirstUnloaded(**graph);
  if (const auto* graphs =
          std::get_if<std::vector<std::shared_ptr<Graph>>>(&value)) {
    for (const std::shared_ptr<Graph>& graph : *graphs) {
      if (std::string name = FirstUnloaded(*graph); !name.empty()) return name;
    }
  }
  return {};
}

std::string FirstUnloaded(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (std::string name = FirstUnloaded(attribute.value); !name.empty())
        return name;
    }
  }
  return {};
}

}  // namespace

MessageWriter EncodeTensorHead(std::string_view name, const Tensor& tensor) {
  MessageWriter message;
  for (const std::int64_t axis : tensor.shape())
    message.AddInteger(kTensorDims, axis);
  message.AddInteger(kTensorDataType, NumberFromDType(tensor.dtype()));
  message.AddTextIfSet(kTensorName, name);
  return message;
}

MessageWriter EncodeTensor(std::string_view name, const Tensor& tensor) {
  MessageWriter message = EncodeTensorHead(name, tensor);
  message.AddBytes(kTensorRawData, tensor.bytes());
  return message;
}

void AddInitializer(const Initializer& initializer, MessageWriter* graph) {
  if (initializer.encoded.has_value()) {
    graph->AddBytes(initializer.encoded->sparse ? kGraphSparseInitializer
                                                : kGraphInitializer,
                    initializer.encoded->message.bytes);
  } else {
    graph->AddMessage(kGraphInitializer,
                      EncodeTensor(initializer.name, initializer.tensor));
  }
}

MessageWriter EncodeGraphBeforeInitializers(const Graph& graph) {
  MessageWriter message;
  for (const Node& node : graph.nodes) AddNode(kGraphNode, node, message);
  message.AddTextIfSet(kGraphName, graph.name);
  return message;
}

MessageWriter EncodeGraphAfterInitializers(const Graph& graph) {
  MessageWriter message;
  message.AddTextIfSet(kGraphDocString, graph.doc_string);
  AddValueInfos(kGraphInput, graph.inputs, message);
  AddValueInfos(kGraphOutput, graph.outputs, message);
  AddValueInfos(kGraphValueInfo, graph.value_infos, message);
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.encoded.has_value() && initializer.encoded->sparse)
      AddInitializer(initializer, &message);
  }
  return message;
}

MessageWriter EncodeModelBeforeGraph(const Model& model) {
  MessageWriter message;
  message.AddInteger(kModelIrVersion, model.ir_version);
  message.AddTextIfSet(kModelProducerName, model.producer_name);
  message.AddTextIfSet(kModelProducerVersion, model.producer_version);
  message.AddTextIfSet(kModelDomain, model.domain);
  if (model.model_version != 0)
    message.AddInteger(kModelVersion, model.model_version);
  message.AddTextIfSet(kModelDocString, model.doc_string);
  return message;
}

MessageWriter EncodeModelAfterGraph(const Model& model) {
  MessageWriter message;
  AddOpsets(kModelOpsetImport, model.opset_imports, message);
  AddEntries(kModelMetadata, model.metadata, message);
  for (const Function& function : model.functions)
    message.AddMessage(kModelFunctions, EncodeFunction(function));
  return message;
}

std::string FirstUnloadedTensor(const Model& model) {
  if (std::string name = FirstUnloaded(model.graph); !name.empty()) return name;
  for (const Function& function : model.functions) {
    if (std::string name = FirstUnloaded(function.nodes); !name.empty()) {
      return name;
    }
    for (const Attribute& attribute : function.default_attributes) {
      if (std::string name = FirstUnloaded(attribute.value); !name.empty()) {
        return name;
      }
    }
  }
  return {};
}

}  // namespace parity::onnx
