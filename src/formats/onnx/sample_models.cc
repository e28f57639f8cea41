#include "formats/onnx/sample_models.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <format>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/encoded.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

// Bytes that live as long as what is made of them.
EncodedMessage Own(const MessageWriter& message) {
  const auto text = std::make_shared<const std::string>(message.ToString());
  return {.bytes = std::as_bytes(std::span(*text)), .owner = text};
}

ValueInfo Float32(std::string name, std::vector<Dimension> shape) {
  ValueInfo info;
  info.name = std::move(name);
  info.dtype = DType::kFloat32;
  info.shape = std::move(shape);
  return info;
}

Node MakeNode(std::string name, std::string op_type,
              std::vector<std::string> inputs,
              std::vector<std::string> outputs) {
  Node node;
  node.name = std::move(name);
  node.op_type = std::move(op_type);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  return node;
}

std::shared_ptr<Graph> Body(const std::string& name) {
  auto body = std::make_shared<Graph>();
  body->name = name;
  body->nodes = {MakeNode("", "Neg", {"x"}, {name + "_out"})};
  body->initializers.push_back(
      {.name = name + "_w", .tensor = CountingTensor(DType::kFloat32, {300})});
  body->outputs = {Float32(name + "_out", {})};
  return body;
}

std::shared_ptr<Graph> NestedBody() {
  std::shared_ptr<Graph> outer = Body("outer");
  outer->nodes.front().attributes.push_back(
      {.name = "inner", .value = Body("inner")});
  return outer;
}

// A sparse tensor attribute, which this version does not decode.
EncodedAttribute SparseAttribute() {
  MessageWriter attribute;
  attribute.AddText(kAttributeName, "sparse");
  attribute.AddInteger(kAttributeType,
                       static_cast<std::int64_t>(AttributeType::kSparseTensor));
  attribute.AddMessage(kAttributeSparseTensor, MessageWriter());
  return {.kind = "sparse tensor", .message = Own(attribute)};
}

EncodedAttribute ReferenceAttribute() {
  MessageWriter attribute;
  attribute.AddText(kAttributeName, "alpha");
  attribute.AddInteger(kAttributeType,
                       static_cast<std::int64_t>(AttributeType::kFloat));
  attribute.AddText(kAttributeReference, "slope");
  return {.kind = "reference to 'slope'", .message = Own(attribute)};
}

Node NodeWithEveryAttribute() {
  Node node = MakeNode("/all/Attributes", "Attributes", {"x", "", "w_float32"},
                       {"y", ""});
  node.domain = "com.example";
  node.overload = "v2";
  node.doc_string = "a node";
  node.metadata = {{"namespace", "model.layer1"}, {"scope", ""}};
  node.attributes = {
      {.name = "float", .value = 0.1F},
      {.name = "int", .value = std::int64_t{-1}},
      {.name = "string", .value = std::string("constant\0zero", 13)},
      {.name = "tensor", .value = CountingTensor(DType::kInt64, {2})},
      {.name = "large_tensor", .value = CountingTensor(DType::kFloat64, {200})},
      {.name = "graph", .value = NestedBody()},
      {.name = "floats", .value = std::vector<float>{1.5F, -2.0F}},
      {.name = "ints", .value = std::vector<std::int64_t>{0, -7, INT64_MAX}},
      {.name = "strings", .value = std::vector<std::string>{"a", "", "c"}},
      {.name = "tensors",
       .value = std::vector<Tensor>{CountingTensor(DType::kBool, {1})}},
      {.name = "graphs",
       .value =
           std::vector<std::shared_ptr<Graph>>{Body("first"), Body("second")}},
      {.name = "no_ints", .value = std::vector<std::int64_t>{}},
      {.name = "sparse", .value = SparseAttribute()},
  };
  return node;
}

std::vector<ValueInfo> EveryKindOfValue() {
  ValueInfo any_rank = Float32("any_rank", {});
  any_rank.shape.reset();
  ValueInfo undeclared;
  undeclared.name = "undeclared";
  ValueInfo strings;
  strings.name = "strings";
  strings.other_type = "string";
  strings.shape = std::vector<Dimension>{{.value = 3, .name = {}}};
  ValueInfo sequence;
  sequence.name = "sequence";
  sequence.other_type = "sequence";
  sequence.encoded_type = std::string("\x22\x00", 2);  // sequence_type {}
  return {Float32("mixed", {{.value = 2, .name = {}},
                            {.value = {}, .name = "height"},
                            {.value = {}, .name = {}}}),
          Float32("scalar", {}),
          any_rank,
          undeclared,
          strings,
          sequence};
}

Function EveryFunctionField() {
  Function function;
  function.domain = "com.example";
  function.name = "Leaky";
  function.overload = "v2";
  function.inputs = {"a"};
  function.outputs = {"b"};
  function.attributes = {"slope"};
  function.default_attributes = {{.name = "bias", .value = 0.5F}};
  function.nodes = {MakeNode("leaky", "LeakyRelu", {"a"}, {"b"})};
  function.nodes.front().attributes.push_back(
      {.name = "alpha", .value = ReferenceAttribute()});
  function.opset_imports = {{.domain = "", .version = 17}};
  function.value_infos = {Float32("b", {})};
  function.doc_string = "a function";
  return function;
}

Initializer EncodedInitializer() {
  MessageWriter message;
  message.AddInteger(kTensorDims, 2);
  message.AddInteger(kTensorDataType, 8);
  message.AddText(kTensorStringData, "red");
  message.AddText(kTensorStringData, "green");
  message.AddText(kTensorName, "w_string");
  return {.name = "w_string",
          .tensor = {},
          .encoded = EncodedTensor{.dtype = "string",
                                   .shape = {2},
                                   .reason = "r",
                                   .message = Own(message)}};
}

Initializer SparseInitializer() {
  MessageWriter values = TensorMessage(1, {1});
  values.AddText(kTensorName, "w_sparse");
  MessageWriter message;
  message.AddMessage(kSparseValues, values);
  message.AddInteger(kSparseDims, 4);
  return {.name = "w_sparse",
          .tensor = {},
          .encoded = EncodedTensor{.dtype = "float32",
                                   .shape = {4},
                                   .sparse = true,
                                   .reason = "r",
                                   .message = Own(message)}};
}

void VisitNodes(const std::vector<Node>& nodes,
                const std::function<void(const Tensor&)>& visit);

void VisitGraph(const Graph& graph,
                const std::function<void(const Tensor&)>& visit) {
  for (const Initializer& initializer : graph.initializers)
    visit(initializer.tensor);
  VisitNodes(graph.nodes, visit);
}

void VisitNodes(const std::vector<Node>& nodes,
                const std::function<void(const Tensor&)>& visit) {
  for (const Node& node : nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (const auto* tensor = std::get_if<Tensor>(&attribute.value))
        visit(*tensor);
      if (const auto* tensors =
              std::get_if<std::vector<Tensor>>(&attribute.value)) {
        for (const Tensor& tensor : *tensors) visit(tensor);
      }
      if (const auto* graph =
              std::get_if<std::shared_ptr<Graph>>(&attribute.value))
        VisitGraph(**graph, visit);
      if (const auto* graphs = std::get_if<std::vector<std::shared_ptr<Graph>>>(
              &attribute.value)) {
        for (const std::shared_ptr<Graph>& graph : *graphs)
          VisitGraph(*graph, visit);
      }
    }
  }
}

}  // namespace

std::filesystem::path DataFolder() {
  return std::filesystem::path(PARITY_TEST_DATA) / "onnx";
}

std::string FileContent(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteText(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

TestFolder::TestFolder() {
  const ::testing::TestInfo& test =
      *::testing::UnitTest::GetInstance()->current_test_info();
  path_ = std::filesystem::temp_directory_path() /
          std::format("onnx-parity-{}-{}-{}", ::getpid(),
                      test.test_suite_name(), test.name());
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

TestFolder::~TestFolder() { std::filesystem::remove_all(path_); }

std::vector<std::string> TestFolder::Files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

Tensor CountingTensor(DType dtype, Shape shape) {
  Tensor tensor = Tensor::Allocate(dtype, std::move(shape)).value();
  int value = 0;
  for (std::byte& byte : tensor.mutable_bytes())
    byte = static_cast<std::byte>(dtype == DType::kBool ? 1 : ++value);
  return tensor;
}

Model TinyModel() {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 17}};
  model.graph.name = "g";
  model.graph.nodes = {MakeNode("add", "Add", {"x", "w"}, {"y"})};
  const std::array<float, 2> weights = {1, 2};
  model.graph.initializers.push_back(
      {.name = "w",
       .tensor = Tensor::From<float>(DType::kFloat32, {2}, weights).value()});
  model.graph.inputs = {
      Float32("x", {{.value = {}, .name = "n"}, {.value = 2, .name = {}}})};
  model.graph.outputs = {
      Float32("y", {{.value = {}, .name = "n"}, {.value = 2, .name = {}}})};
  return model;
}

Model ModelWithWeight(Shape shape) {
  Model model = TinyModel();
  model.graph.initializers.front().tensor =
      CountingTensor(DType::kFloat32, std::move(shape));
  return model;
}

Model EverythingModel() {
  Model model;
  model.ir_version = 10;
  model.opset_imports = {{.domain = "", .version = 17},
                         {.domain = "com.example", .version = 1}};
  model.producer_name = "onnx-parity";
  model.producer_version = "0.1";
  model.domain = "com.example.model";
  model.model_version = 3;
  model.doc_string = "everything";
  model.metadata = {{"network", "none"}, {"empty", ""}};
  model.graph.name = "main";
  model.graph.doc_string = "a graph";
  model.graph.nodes = {NodeWithEveryAttribute(),
                       MakeNode("", "Identity", {"y"}, {"z"})};
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    model.graph.initializers.push_back(
        {.name = std::format("w_{}", Name(dtype)),
         .tensor = CountingTensor(dtype, {3, 1})});
  }
  model.graph.initializers.push_back(
      {.name = "w_scalar", .tensor = CountingTensor(DType::kFloat32, {})});
  model.graph.initializers.push_back(
      {.name = "w_empty", .tensor = CountingTensor(DType::kFloat32, {0, 3})});
  model.graph.initializers.push_back(
      {.name = "w_large", .tensor = CountingTensor(DType::kInt16, {7, 500})});
  model.graph.initializers.push_back(EncodedInitializer());
  model.graph.initializers.push_back(
      {.name = "w_last", .tensor = CountingTensor(DType::kFloat64, {128})});
  model.graph.initializers.push_back(SparseInitializer());
  model.graph.inputs = {Float32("x", {{.value = {}, .name = "batch"}})};
  model.graph.outputs = {Float32("z", {})};
  model.graph.value_infos = EveryKindOfValue();
  model.functions = {EveryFunctionField()};
  return model;
}

std::string ModelBytes(const MessageWriter& graph) {
  MessageWriter model;
  model.AddInteger(kModelIrVersion, 8);
  model.AddMessage(kModelGraph, graph);
  return model.ToString();
}

std::string ModelBytesWithInitializer(const MessageWriter& tensor) {
  MessageWriter graph;
  graph.AddMessage(kGraphInitializer, tensor);
  return ModelBytes(graph);
}

MessageWriter TensorMessage(std::int32_t data_type, const Shape& shape) {
  MessageWriter tensor;
  for (const std::int64_t axis : shape) tensor.AddInteger(kTensorDims, axis);
  tensor.AddInteger(kTensorDataType, data_type);
  tensor.AddText(kTensorName, "w");
  return tensor;
}

MessageWriter ExternalTensorMessage(const Shape& shape,
                                    std::string_view location,
                                    std::string_view offset,
                                    std::string_view length) {
  MessageWriter tensor = TensorMessage(1, shape);
  for (const auto& [key, value] : {std::pair("location", location),
                                   {"offset", offset},
                                   {"length", length}}) {
    if (value.empty()) continue;
    MessageWriter entry;
    entry.AddText(kEntryKey, key);
    entry.AddText(kEntryValue, value);
    tensor.AddMessage(kTensorExternalData, entry);
  }
  tensor.AddInteger(kTensorDataLocation, 1);
  return tensor;
}

Result<Model> ReadBytes(std::string_view bytes) {
  const auto block = std::make_shared<std::vector<std::byte>>(bytes.size());
  block->shrink_to_fit();
  if (!bytes.empty()) std::memcpy(block->data(), bytes.data(), bytes.size());
  return ReadOnnxModel(*block, block, "");
}

void ForEachTensor(const Model& model,
                   const std::function<void(const Tensor&)>& visit) {
  VisitGraph(model.graph, visit);
  for (const Function& function : model.functions)
    VisitNodes(function.nodes, visit);
}

}  // namespace parity::onnx
