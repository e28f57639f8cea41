#include "formats/onnx/onnx_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "formats/onnx/message_writer.h"
#include "formats/onnx/onnx_fields.h"
#include "formats/onnx/onnx_writer.h"
#include "formats/onnx/sample_models.h"
#include "formats/testing/damage.h"
#include "graph/encoded.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// "2 height ?": the axes; "any rank" when no shape is declared.
std::string AxesOf(const ValueInfo& info) {
  if (!info.shape.has_value()) return "any rank";
  std::string text;
  for (const Dimension& axis : *info.shape) {
    if (!text.empty()) text += ' ';
    if (axis.value.has_value()) {
      text += std::to_string(*axis.value);
    } else {
      text += axis.name.empty() ? "?" : axis.name;
    }
  }
  return text;
}

// Whatever the bytes, the reader gives a model or an error of one line; tensors
// of a model lie in the bytes, or in blocks of their own that are no larger
// than varints of one byte each can be.
void ExpectModelOrError(const testing_damage::Copy& copy) {
  const auto model = ReadOnnxModel(copy.bytes, copy.block, "");
  if (!model.has_value()) {
    EXPECT_FALSE(model.error().message.empty());
    EXPECT_FALSE(model.error().message.contains('\n'));
    return;
  }
  const std::byte* const begin = copy.bytes.data();
  const std::byte* const end = begin + copy.bytes.size();
  const std::less<> before;
  NamedTensors tensors;
  ForEachTensor(*model, [&](const Tensor& tensor) {
    const std::span<const std::byte> bytes = tensor.bytes();
    if (!before(bytes.data(), begin) && before(bytes.data(), end)) {
      EXPECT_LE(bytes.size(), static_cast<std::size_t>(end - bytes.data()));
    }
    EXPECT_LE(bytes.size(), 8 * copy.bytes.size());
    tensors.push_back({.name = "", .tensor = tensor});
  });
  testing_damage::ExpectReadable(tensors);
}

std::span<const std::byte> AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(OnnxReaderTest, EveryTruncationIsAModelOrAnError) {
  for (const std::string& file :
       {FileContent(DataFolder() / "if_and_loop.onnx"),
        SerializeModel(TinyModel())}) {
    testing_damage::ForEachTruncation(AsBytes(file), ExpectModelOrError);
  }
}

TEST(OnnxReaderTest, ATruncationInsideTheGraphIsNeverAccepted) {
  const std::string file = FileContent(DataFolder() / "if_and_loop.onnx");
  // The operator set, 4 bytes, comes after the graph.
  const auto graph = AsBytes(file).first(file.size() - 4);
  testing_damage::ForEachTruncation(
      graph, [](const testing_damage::Copy& copy) {
        EXPECT_FALSE(ReadOnnxModel(copy.bytes, copy.block, "").has_value());
      });
}

TEST(OnnxReaderTest, EverySingleFlippedBitIsAModelOrAnError) {
  for (const std::string& file :
       {FileContent(DataFolder() / "if_and_loop.onnx"),
        FileContent(DataFolder() / "layer_norm.onnx"),
        SerializeModel(TinyModel())}) {
    testing_damage::ForEachBitFlip(AsBytes(file), ExpectModelOrError);
  }
}

TEST(OnnxReaderTest, ADamagedByteInAModelOfEveryFieldIsAModelOrAnError) {
  const std::string file = SerializeModel(EverythingModel());
  for (std::size_t i = 0; i < file.size(); ++i) {
    SCOPED_TRACE(i);
    const testing_damage::Copy copy = testing_damage::CopyOf(AsBytes(file));
    copy.bytes[i] ^= std::byte{1} << (i % 8);
    ExpectModelOrError(copy);
  }
}

TEST(OnnxReaderTest, WhatIsNoModelIsSaidToBeWhatItIs) {
  struct Case {
    std::string bytes;
    const char* message;
  };
  const std::string zero(1, '\0');
  const std::vector<Case> cases = {
      {"", "is an empty file (0 bytes), not an ONNX model"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0",
       "is a Git LFS pointer"},
      {"<!DOCTYPE html><html>", "is a web page, not an ONNX model"},
      {"\x89PNG\r\n\x1A\n", "is a PNG image, not an ONNX model"},
      {"\x08\x08", "is not an ONNX model: it has no graph"},
      {"\x3A" + zero, "neither an IR version nor an operator set"},
      {std::string(100, '\0'),
       "not a valid ONNX model: a field has an impossible number"},
      {std::string(100, '\xFF'),
       "not a valid ONNX model: a number has more than 10 bytes"},
      {"\x08\x08\x3A\x7F\x0A",
       "not a valid ONNX model: a field reaches beyond the end"},
      {"\x08\x08\x12\x01\xFF",
       "not a valid ONNX model: a name or text is not UTF-8"},
  };
  for (const Case& c : cases) {
    const auto model = ReadBytes(c.bytes);
    ASSERT_FALSE(model.has_value()) << c.message;
    EXPECT_EQ(model.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(model.error().message, HasSubstr(c.message));
  }
}

TEST(OnnxReaderTest, ErrorsNameTheFile) {
  const TestFolder folder;
  WriteText(folder.path() / "model.onnx", "PK\x03\x04");
  const auto model = ReadOnnxModel(folder.path() / "model.onnx");
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message,
              ::testing::StartsWith((folder.path() / "model.onnx").string() +
                                    ": is a truncated or damaged zip archive"));
  const auto missing = ReadOnnxModel(folder.path() / "nothing.onnx");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST(OnnxReaderTest, AFileOfThePyTorchExporterIsUnderstood) {
  const auto model = ReadOnnxModel(DataFolder() / "if_and_loop.onnx");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->opset_version(), 17);
  EXPECT_THAT(model->warnings, IsEmpty());
  EXPECT_THAT(StructureProblems(*model), IsEmpty());
  const auto counts = OpHistogram(model->graph);
  EXPECT_EQ(counts.at("If"), 1);
  EXPECT_EQ(counts.at("Loop"), 1);
  EXPECT_GE(counts.at("Constant"), 3);  // in the loop's body
}

TEST(OnnxReaderTest, NamesShapesAndWeightsAreRead) {
  const auto model = ReadOnnxModel(DataFolder() / "layer_norm.onnx");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Graph& graph = model->graph;
  EXPECT_EQ(graph.name, "main_graph");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].name, "/LayerNormalization");
  EXPECT_THAT(graph.nodes[0].inputs, ElementsAre("x", "weight", "bias"));
  EXPECT_EQ(std::get<std::int64_t>(*graph.nodes[0].FindAttribute("axis")), -1);
  EXPECT_EQ(std::get<float>(*graph.nodes[0].FindAttribute("epsilon")), 1e-5F);
  ASSERT_EQ(graph.initializers.size(), 2U);
  EXPECT_EQ(graph.initializers[1].name, "bias");
  EXPECT_EQ(graph.initializers[1].tensor.shape(), Shape{4});
  const auto inputs = graph.RequiredInputs();
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(AxesOf(inputs[0]), "3 4");
}

TEST(OnnxReaderTest, EverythingComesBack) {
  const Model original = EverythingModel();
  const std::string bytes = SerializeModel(original);
  const auto model = ReadBytes(bytes);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(SerializeModel(*model), bytes);
  EXPECT_EQ(model->model_version, 3);
  EXPECT_EQ(model->domain, "com.example.model");
  EXPECT_EQ(model->doc_string, "everything");
  EXPECT_EQ(model->metadata, original.metadata);
  EXPECT_EQ(model->opset_imports[1].domain, "com.example");
  EXPECT_EQ(model->graph.doc_string, "a graph");
  EXPECT_EQ(model->warnings.size(),
            2U);  // the string and the sparse initializer
}

TEST(OnnxReaderTest, EveryInitializerComesBack) {
  const Model original = EverythingModel();
  const auto model = ReadBytes(SerializeModel(original));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ(model->graph.initializers.size(),
            original.graph.initializers.size());
  for (std::size_t i = 0; i < original.graph.initializers.size(); ++i) {
    const Initializer& expected = original.graph.initializers[i];
    const Initializer& actual = model->graph.initializers[i];
    SCOPED_TRACE(expected.name);
    EXPECT_EQ(actual.name, expected.name);
    EXPECT_EQ(actual.encoded.has_value(), expected.encoded.has_value());
    EXPECT_EQ(actual.tensor.dtype(), expected.tensor.dtype());
    EXPECT_EQ(actual.tensor.shape(), expected.tensor.shape());
    EXPECT_TRUE(
        std::ranges::equal(actual.tensor.bytes(), expected.tensor.bytes()));
  }
}

TEST(OnnxReaderTest, EveryAttributeComesBack) {
  const auto model = ReadBytes(SerializeModel(EverythingModel()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Node& node = model->graph.nodes[0];
  EXPECT_EQ(node.domain, "com.example");
  EXPECT_EQ(node.overload, "v2");
  EXPECT_EQ(node.doc_string, "a node");
  EXPECT_THAT(node.metadata, ElementsAre(Pair("namespace", "model.layer1"),
                                         Pair("scope", "")));
  EXPECT_THAT(node.inputs, ElementsAre("x", "", "w_float32"));
  EXPECT_EQ(std::get<float>(*node.FindAttribute("float")), 0.1F);
  EXPECT_EQ(std::get<std::int64_t>(*node.FindAttribute("int")), -1);
  EXPECT_EQ(std::get<std::string>(*node.FindAttribute("string")),
            std::string("constant\0zero", 13));
  EXPECT_EQ(std::get<Tensor>(*node.FindAttribute("tensor")).dtype(),
            DType::kInt64);
  EXPECT_EQ(std::get<Tensor>(*node.FindAttribute("large_tensor")).shape(),
            Shape{200});
  const auto& graph =
      *std::get<std::shared_ptr<Graph>>(*node.FindAttribute("graph"));
  const auto& inner =
      *std::get<std::shared_ptr<Graph>>(*graph.nodes[0].FindAttribute("inner"));
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(inner.initializers[0].tensor.shape(), Shape{300});
  EXPECT_THAT(std::get<std::vector<float>>(*node.FindAttribute("floats")),
              ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(*node.FindAttribute("ints")),
              ElementsAre(0, -7, INT64_MAX));
  EXPECT_THAT(
      std::get<std::vector<std::string>>(*node.FindAttribute("strings")),
      ElementsAre("a", "", "c"));
  EXPECT_EQ(
      std::get<std::vector<Tensor>>(*node.FindAttribute("tensors")).size(), 1U);
  EXPECT_EQ(std::get<std::vector<std::shared_ptr<Graph>>>(
                *node.FindAttribute("graphs"))[1]
                ->name,
            "second");
  EXPECT_THAT(
      std::get<std::vector<std::int64_t>>(*node.FindAttribute("no_ints")),
      IsEmpty());
  EXPECT_EQ(std::get<EncodedAttribute>(*node.FindAttribute("sparse")).kind,
            "sparse tensor");
}

TEST(OnnxReaderTest, EveryDeclaredValueComesBack) {
  const auto model = ReadBytes(SerializeModel(EverythingModel()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const std::vector<ValueInfo>& values = model->graph.value_infos;
  ASSERT_EQ(values.size(), 6U);
  EXPECT_EQ(AxesOf(values[0]), "2 height ?");
  EXPECT_EQ(AxesOf(values[1]), "");
  EXPECT_EQ(AxesOf(values[2]), "any rank");
  EXPECT_EQ(values[2].dtype, DType::kFloat32);
  EXPECT_FALSE(values[3].dtype.has_value());
  EXPECT_EQ(values[3].other_type, "");
  EXPECT_EQ(values[4].other_type, "string");
  EXPECT_EQ(AxesOf(values[4]), "3");
  EXPECT_EQ(values[5].other_type, "sequence");
}

TEST(OnnxReaderTest, FunctionsComeBack) {
  const auto model = ReadBytes(SerializeModel(EverythingModel()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ(model->functions.size(), 1U);
  const Function& function = model->functions[0];
  EXPECT_EQ(function.domain, "com.example");
  EXPECT_EQ(function.name, "Leaky");
  EXPECT_THAT(function.inputs, ElementsAre("a"));
  EXPECT_THAT(function.outputs, ElementsAre("b"));
  EXPECT_THAT(function.attributes, ElementsAre("slope"));
  EXPECT_EQ(std::get<float>(function.default_attributes[0].value), 0.5F);
  EXPECT_EQ(
      std::get<EncodedAttribute>(*function.nodes[0].FindAttribute("alpha"))
          .kind,
      "reference to 'slope'");
  EXPECT_EQ(function.opset_imports[0].version, 17);
}

TEST(OnnxReaderTest, AttributesOfTheFirstIrVersionHaveNoType) {
  MessageWriter attribute;
  attribute.AddText(kAttributeName, "axes");
  attribute.AddInteger(kAttributeInts, 2);
  attribute.AddInteger(kAttributeInts, 3);
  MessageWriter node;
  node.AddMessage(kNodeAttribute, attribute);
  MessageWriter graph;
  graph.AddMessage(kGraphNode, node);
  const auto model = ReadBytes(ModelBytes(graph));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_THAT(std::get<std::vector<std::int64_t>>(
                  model->graph.nodes[0].attributes[0].value),
              ElementsAre(2, 3));
}

TEST(OnnxReaderTest, ErrorsInAttributesNameTheNode) {
  MessageWriter attribute;
  attribute.AddText(kAttributeName, "value");
  attribute.AddMessage(kAttributeTensor, TensorMessage(1, {2}));
  MessageWriter node;
  node.AddMessage(kNodeAttribute, attribute);
  node.AddText(kNodeName, "/Constant");
  MessageWriter graph;
  graph.AddMessage(kGraphNode, node);
  const auto model = ReadBytes(ModelBytes(graph));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().message,
            "node '/Constant': attribute 'value': tensor 'w': shape 2 has 2 "
            "elements, but float_data has 0 values");
}

// A graph in a graph in a graph, `depth` of them.
MessageWriter NestedGraphs(int depth) {
  MessageWriter graph;
  for (int i = 1; i < depth; ++i) {
    MessageWriter attribute;
    attribute.AddMessage(kAttributeGraph, graph);
    MessageWriter node;
    node.AddMessage(kNodeAttribute, attribute);
    graph = MessageWriter();
    graph.AddMessage(kGraphNode, node);
  }
  return graph;
}

TEST(OnnxReaderTest, NestingIsBounded) {
  EXPECT_TRUE(ReadBytes(ModelBytes(NestedGraphs(60))).has_value());
  const auto model = ReadBytes(ModelBytes(NestedGraphs(5000)));
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(model.error().message,
              HasSubstr("has graphs nested more than 64 deep"));
  EXPECT_LT(model.error().message.size(), 5000U);
}

TEST(OnnxReaderTest, MillionsOfEmptyNodesAreStopped) {
  std::string graph;
  for (int i = 0; i < 1'000'001; ++i) graph += std::string_view("\x0A\0", 2);
  MessageWriter model;
  model.AddInteger(kModelIrVersion, 8);
  model.AddText(kModelGraph, graph);
  const auto read = ReadBytes(model.ToString());
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message, HasSubstr("more than 1000000 nodes"));
}

TEST(OnnxReaderTest, UnknownFieldsAndTrainingInformationAreSkipped) {
  MessageWriter model;
  model.AddInteger(kModelIrVersion, 8);
  model.AddMessage(kModelGraph, MessageWriter());
  model.AddText(kModelTrainingInfo, "anything");
  model.AddText(4000, "anything");
  model.AddFloat(4001, 1);
  const auto read = ReadBytes(model.ToString());
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(read->warnings, ElementsAre("training information is not read"));
}

TEST(OnnxReaderTest, LargeWeightsStayInTheMapping) {
  const TestFolder folder;
  ASSERT_TRUE(WriteOnnxModel(EverythingModel(), folder.path() / "model.onnx")
                  .has_value());
  const auto file = FileMapping::Open(folder.path() / "model.onnx");
  ASSERT_TRUE(file.has_value());
  const std::span<const std::byte> bytes = (*file)->bytes();
  const auto model = ReadOnnxModel(bytes, *file, folder.path());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  int borrowed = 0;
  for (const Initializer& initializer : model->graph.initializers) {
    const std::span<const std::byte> values = initializer.tensor.bytes();
    if (values.size() < 1024) continue;
    EXPECT_GE(values.data(), bytes.data()) << initializer.name;
    EXPECT_LE(values.data() + values.size(), bytes.data() + bytes.size())
        << initializer.name;
    ++borrowed;
  }
  EXPECT_EQ(borrowed, 2);
}

}  // namespace
}  // namespace parity::onnx
