// --repro with real libtorch and real ONNX Runtime: what is written fails again
// with nothing but what is written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_test_data.h"
#include "formats/onnx/onnx_writer.h"
#include "formats/safetensors/safetensors_reader.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::filesystem::path kCases = PARITY_TEST_DATA "/cases";

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> NodeNames(const std::filesystem::path& path) {
  std::vector<std::string> names;
  const Result<Model> model = ReadOnnxModel(path);
  if (!model) return {model.error().message};
  for (const Node& node : model->graph.nodes) names.push_back(node.name);
  return names;
}

class ReproTest : public ::testing::Test {
 protected:
  // One of the public cases, with these of its inputs.
  ToolRun Validate(const std::string& name,
                   const std::vector<std::string>& inputs,
                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "validate",      (kCases / name / "model.onnx").string(),
        "--torchscript", (kCases / name / "reference.pt").string(),
        "--repro",       Repro().string()};
    for (const std::string& input : inputs) {
      arguments.emplace_back("--inputs");
      arguments.push_back((kCases / name / "inputs" / input).string());
    }
    std::ranges::copy(more, std::back_inserter(arguments));
    return RunTool(arguments);
  }

  // The command of the README, in the folder.
  [[nodiscard]] ToolRun Replay() const {
    std::istringstream lines(ReadText(Repro() / "README.md"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string program;
      words >> program;
      if (!line.starts_with("    ") || program != "onnx-parity") continue;
      const std::vector<std::string> arguments(
          std::istream_iterator<std::string>(words), {});
      return RunTool(arguments, {.environment = {}, .folder = Repro()});
    }
    return {.exit_code = -1, .out = "", .err = "no command in the README"};
  }

  [[nodiscard]] std::filesystem::path Repro() const {
    return folder_ / "repro";
  }

  TestFolder folder_;
};

TEST_F(ReproTest, ANodeThatTheRuntimeComputesWrongIsWrittenAlone) {
  const ToolRun run = Validate("16-nearest-one-pixel",
                               {"0-traced.safetensors", "1-26x26.safetensors"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("repro: the node /Resize is in"));
  EXPECT_THAT(folder_.Entries(), ElementsAre("repro"));
  EXPECT_THAT(NodeNames(Repro() / "model.onnx"), ElementsAre("/Resize"));
  const auto set = ReadTestDataSet(Repro() / "test_data_set_0");
  ASSERT_TRUE(set) << set.error().message;
  ASSERT_EQ(set->inputs.size(), 2U);  // the picture and the size
  EXPECT_EQ(set->inputs[0].tensor.shape(), (Shape{1, 1, 26, 26}));
  ASSERT_EQ(set->outputs.size(), 1U);
  EXPECT_EQ(set->outputs[0].tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(set->outputs[0].tensor.shape(), (Shape{1, 1, 64, 64}));
  const ToolRun again = Replay();
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  EXPECT_THAT(again.out,
              HasSubstr("runtime (certain) the runtime computes /Resize"));
}

TEST_F(ReproTest, ValuesThatAreNotFiniteFailAgain) {
  const ToolRun run =
      Validate("13-layernorm-offset", {"1-offset-40000.safetensors"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(NodeNames(Repro() / "model.onnx"),
              ElementsAre("/LayerNormalization"));
  const std::string readme = ReadText(Repro() / "README.md");
  EXPECT_THAT(readme, HasSubstr("ONNX Runtime"));
  EXPECT_THAT(readme, HasSubstr("libtorch"));
  EXPECT_THAT(readme, HasSubstr("epsilon=1e-05"));
  const ToolRun again = Replay();
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
}

TEST_F(ReproTest, AnotherOptimizationLevelIsReplayed) {
  const ToolRun run =
      Validate("13-layernorm-offset", {"2-offset-1000.safetensors"},
               {"--optimization", "disabled"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(
      ReadText(Repro() / "README.md"),
      HasSubstr("--recorded test_data_set_0 --optimization disabled\n"));
  const ToolRun again = Replay();
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("optimization disabled"));
}

// Row by row, in double.
Tensor Normalized(const Tensor& rows, double epsilon) {
  const auto width = static_cast<std::size_t>(rows.shape().back());
  std::vector<float> values;
  const std::span<const float> all = rows.As<float>();
  for (std::size_t row = 0; row < all.size(); row += width) {
    const std::span<const float> in = all.subspan(row, width);
    double mean = 0;
    for (const double value : in) mean += value / static_cast<double>(width);
    double variance = 0;
    for (const double value : in)
      variance += (value - mean) * (value - mean) / static_cast<double>(width);
    for (const double value : in) {
      values.push_back(
          static_cast<float>((value - mean) / std::sqrt(variance + epsilon)));
    }
  }
  return *Tensor::From<float>(DType::kFloat32, rows.shape(), values);
}

ValueInfo Declared(const std::string& name, DType dtype, const Shape& shape) {
  ValueInfo info{.name = name,
                 .dtype = dtype,
                 .shape = std::vector<Dimension>(),
                 .other_type = ""};
  for (const std::int64_t size : shape)
    info.shape->push_back({.value = size, .name = ""});
  return info;
}

Node Call(const std::string& name, const std::string& op,
          std::vector<std::string> inputs, std::vector<std::string> outputs) {
  return {.name = name,
          .op_type = op,
          .domain = "",
          .inputs = std::move(inputs),
          .outputs = std::move(outputs),
          .attributes = {}};
}

// v = Relu(x); y = flag ? LayerNormalization(v, scale) : Neg(v)
Model BranchModel(const Shape& shape) {
  const auto branch = [&](Node node) {
    auto graph = std::make_shared<Graph>();
    graph->name = node.op_type;
    graph->outputs = {Declared(node.outputs[0], DType::kFloat32, shape)};
    graph->nodes = {std::move(node)};
    return graph;
  };
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 17}};
  model.graph.name = "branch";
  model.graph.inputs = {Declared("x", DType::kFloat32, shape),
                        Declared("flag", DType::kBool, {})};
  model.graph.outputs = {Declared("y", DType::kFloat32, shape)};
  model.graph.initializers = {
      {.name = "scale",
       .tensor = *Tensor::From<float>(
           DType::kFloat32, {shape.back()},
           std::vector<float>(static_cast<std::size_t>(shape.back()), 1.0F))}};
  model.graph.nodes = {Call("/Relu", "Relu", {"x"}, {"v"}),
                       Call("/If", "If", {"flag"}, {"y"})};
  model.graph.nodes[1].attributes = {
      {.name = "then_branch",
       .value = branch(Call("/If/LayerNormalization", "LayerNormalization",
                            {"v", "scale"}, {"normalized"}))},
      {.name = "else_branch",
       .value = branch(Call("/If/Neg", "Neg", {"v"}, {"negative"}))}};
  return model;
}

TEST_F(ReproTest, ABranchKeepsItsBodyAndIsFedWhatThatUsesFromOutside) {
  const auto file = ReadSafetensorsFile(kCases / "13-layernorm-offset" /
                                        "inputs/1-offset-40000.safetensors");
  ASSERT_TRUE(file) << file.error().message;
  const Tensor& x = file->tensors[0].tensor;
  ASSERT_TRUE(WriteOnnxModel(BranchModel(x.shape()), folder_ / "m.onnx"));
  const Tensor flag = *Tensor::From<std::uint8_t>(DType::kBool, {},
                                                  std::vector<std::uint8_t>{1});
  ASSERT_TRUE(WriteTestDataSet(
      {.inputs = {{.name = "x", .tensor = x}, {.name = "flag", .tensor = flag}},
       .outputs = {{.name = "y", .tensor = Normalized(x, 1e-5)}}},
      folder_ / "set"));
  const ToolRun run = RunTool({"validate", folder_ / "m.onnx", "--recorded",
                               folder_ / "set", "--repro", Repro().string()});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("repro: the node /If is in"));
  const auto written = ReadOnnxModel(Repro() / "model.onnx");
  ASSERT_TRUE(written) << written.error().message;
  std::vector<std::string> inputs;
  for (const ValueInfo& input : written->graph.inputs)
    inputs.push_back(input.name);
  EXPECT_THAT(inputs, ElementsAre("flag", "v"));
  ASSERT_EQ(written->graph.initializers.size(), 1U);
  EXPECT_EQ(written->graph.initializers[0].name, "scale");
  const ToolRun again = Replay();
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
}

TEST_F(ReproTest, AnExportIsWrittenWholeWithALimitThatShowsIt) {
  const ToolRun run =
      Validate("26-one-layer-one-percent", {"0-traced.safetensors"},
               {"--criterion", "noise"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("repro: the whole model is in"));
  EXPECT_THAT(NodeNames(Repro() / "model.onnx"), Contains("/6/Conv"));
  EXPECT_EQ(NodeNames(Repro() / "model.onnx"),
            NodeNames(kCases / "26-one-layer-one-percent" / "model.onnx"));
  const std::string readme = ReadText(Repro() / "README.md");
  EXPECT_THAT(readme, HasSubstr("The node to look at is `/6/Conv` (Conv)."));
  EXPECT_THAT(readme, HasSubstr("--atol 0.0002"));
  const ToolRun again = Replay();
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("export (certain)"));
}

TEST_F(ReproTest, WhatTheFileIsNotToBlameForIsNotWritten) {
  const ToolRun rounding = Validate(
      "13-layernorm-offset", {"0-random.safetensors"}, {"--atol", "1e-9"});
  EXPECT_EQ(rounding.exit_code, 1) << rounding.out << rounding.err;
  EXPECT_THAT(rounding.out,
              HasSubstr("no repro: the ONNX file is not at fault"));
  const ToolRun passing =
      Validate("13-layernorm-offset", {"0-random.safetensors"});
  EXPECT_EQ(passing.exit_code, 0) << passing.out << passing.err;
  EXPECT_THAT(passing.out, HasSubstr("no repro: nothing fails"));
  EXPECT_THAT(folder_.Entries(), IsEmpty());
}

TEST_F(ReproTest, AFolderThatIsNotEmptyIsRefusedBeforeAnythingElse) {
  std::filesystem::create_directory(Repro());
  std::ofstream(Repro() / "kept") << "text";
  const ToolRun run =
      RunTool({"validate", folder_ / "missing.onnx", "--synthetic-seed", "0",
               "--repro", Repro().string()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("repro: the folder is not empty"));
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1);
  EXPECT_THAT(folder_.Entries(), ElementsAre("repro"));
  EXPECT_EQ(ReadText(Repro() / "kept"), "text");
}

}  // namespace
}  // namespace parity
