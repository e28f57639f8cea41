// The laboratory's sides are small evaluators here: the torch side computes in
// float64, the runtime in float32 and with faults.
#include "diagnose/culprit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <format>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Tensor Scalar(DType dtype, double value) {
  if (dtype == DType::kFloat64)
    return *Tensor::From<double>(dtype, {1}, std::vector<double>{value});
  return *Tensor::From<float>(dtype, {1},
                              std::vector<float>{static_cast<float>(value)});
}

double ValueOf(const Tensor& tensor) {
  return tensor.dtype() == DType::kFloat64 ? tensor.As<double>()[0]
                                           : double{tensor.As<float>()[0]};
}

// Added to the result of node `index`.
using Fault = std::function<double(const Model& model, std::size_t index,
                                   const LoadRequest& load)>;

// Knows Add of a value or constant to another.
class FakeSide : public Backend {
 public:
  FakeSide(DType dtype, Fault fault)
      : dtype_(dtype), fault_(std::move(fault)) {}
  [[nodiscard]] std::string name() const override { return "fake"; }

  Result<LoadResult> Load(const LoadRequest& request) override {
    load_ = request;
    PARITY_ASSIGN_OR_RETURN(model_, ReadOnnxModel(request.path));
    return LoadResult{};
  }

  Result<RunResult> Run(const RunRequest& request) override {
    std::map<std::string, double> values;
    for (const Initializer& initializer : model_.graph.initializers)
      values[initializer.name] = ValueOf(initializer.tensor);
    for (const NamedTensor& input : request.inputs)
      values[input.name] = ValueOf(input.tensor);
    std::vector<std::string> wanted = request.output_names;
    if (wanted.empty()) {
      for (const ValueInfo& output : model_.graph.outputs)
        wanted.push_back(output.name);
    }
    for (std::size_t i = 0; i < model_.graph.nodes.size(); ++i) {
      const Node& node = model_.graph.nodes[i];
      const bool given = FindTensor(request.inputs, node.outputs[0]) != nullptr;
      if (given && !std::ranges::contains(wanted, node.outputs[0])) continue;
      if (!std::ranges::all_of(node.inputs, [&](const std::string& input) {
            return values.contains(input);
          }))
        continue;  // nobody gave what it needs
      values[node.outputs[0]] = values.at(node.inputs[0]) +
                                values.at(node.inputs[1]) +
                                (fault_ ? fault_(model_, i, load_) : 0.0);
    }
    RunResult result;
    for (const std::string& name : wanted) {
      if (!values.contains(name))
        return Fail(ErrorCode::kIncompatible, "not computed: " + name);
      result.outputs.push_back(
          {.name = name, .tensor = Scalar(dtype_, values[name])});
    }
    return result;
  }

 private:
  DType dtype_;
  Fault fault_;
  LoadRequest load_;
  Model model_;
};

ValueInfo Value(std::string name) {
  return {.name = std::move(name),
          .dtype = DType::kFloat32,
          .shape = std::vector<Dimension>{{.value = 1, .name = ""}},
          .other_type = ""};
}

// x → /0 → v0 → /1 → v1 → … → /(count - 1) → y, each adding w = 1.
Model Chain(int count) {
  Model model;
  model.ir_version = 8;
  model.opset_imports = {{.domain = "", .version = 17}};
  model.graph.name = "chain";
  model.graph.inputs = {Value("x")};
  model.graph.outputs = {Value("y")};
  model.graph.initializers = {
      {.name = "w", .tensor = Scalar(DType::kFloat32, 1)}};
  std::string last = "x";
  for (int i = 0; i < count; ++i) {
    const std::string next = i + 1 == count ? "y" : std::format("v{}", i);
    Node& node = model.graph.nodes.emplace_back();
    node.name = std::format("/{}", i);
    node.op_type = "Add";
    node.inputs = {last, "w"};
    node.outputs = {next};
    last = next;
  }
  return model;
}

bool Is(const Model& model, std::size_t index, std::string_view name) {
  return model.graph.nodes[index].name == name;
}

class CulpritTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    ASSERT_TRUE(WriteOnnxModel(model_, folder_ / "original.onnx"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // What the search gives when the candidate has this fault. The case is x = 1
  // and the reference right.
  Result<Culprit> Write(Cause cause, const std::string& node,
                        const Fault& fault) {
    Laboratory lab(
        {.make = [&](SideKind kind) -> Result<std::unique_ptr<Backend>> {
           if (kind == SideKind::kTorch)
             return std::make_unique<FakeSide>(DType::kFloat64, nullptr);
           return std::make_unique<FakeSide>(DType::kFloat32, fault);
         },
         .reference = nullptr,
         .candidate = {.path = folder_ / "original.onnx"},
         .progress = nullptr});
    Subject subject;
    subject.name = "case";
    subject.request.inputs = {
        {.name = "x", .tensor = Scalar(DType::kFloat32, 1)}};
    subject.expected = {
        {.name = "output_0", .tensor = Scalar(DType::kFloat32, 11)}};
    subject.actual = lab.Candidate(subject.request)->outputs;
    Finding finding;
    finding.cause = cause;
    finding.node = node;
    return WriteCulprit(
        {.finding = finding, .subject = subject, .model = model_, .lab = lab},
        folder_ / "model.onnx");
  }

  [[nodiscard]] std::vector<std::string> WrittenNodes() const {
    std::vector<std::string> names;
    const Result<Model> written = ReadOnnxModel(folder_ / "model.onnx");
    for (const Node& node : written->graph.nodes) names.push_back(node.name);
    return names;
  }

  Model model_ = Chain(10);
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      std::format("onnx-parity-culprit-{}", ::getpid());
};

TEST_F(CulpritTest, ANodeThatIsWrongIsWrittenAloneOnTheRuntimesOwnValues) {
  // /3 is wrong, too: its error is in the input of /5, and not in what that
  // should give.
  const auto culprit = Write(
      Cause::kRuntime, "/5",
      [](const Model& model, std::size_t index, const LoadRequest&) {
        return Is(model, index, "/3") ? 0.25 : Is(model, index, "/5") ? 0.5 : 0;
      });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, ElementsAre("/5"));
  EXPECT_THAT(WrittenNodes(), ElementsAre("/5"));
  ASSERT_EQ(culprit->inputs.size(), 1U);
  EXPECT_EQ(culprit->inputs[0].name, "v4");
  EXPECT_EQ(ValueOf(culprit->inputs[0].tensor), 6.25);
  ASSERT_EQ(culprit->expected.size(), 1U);
  EXPECT_EQ(culprit->expected[0].tensor.dtype(), DType::kFloat32);
  EXPECT_EQ(ValueOf(culprit->expected[0].tensor), 7.25);
  EXPECT_EQ(ValueOf(culprit->actual[0].tensor), 7.75);
  EXPECT_TRUE(culprit->expected_is_float64);
}

// /5 is wrong when the optimizer has seen three nodes that it can fuse.
double FusionFault(const Model& model, std::size_t index,
                   const LoadRequest& load) {
  return load.optimization != "disabled" && Is(model, index, "/5") && index >= 2
             ? 0.5
             : 0;
}

TEST_F(CulpritTest, AFusionIsWrittenWithTheNodesThatItTakes) {
  const auto culprit = Write(Cause::kOptimizer, "/5", FusionFault);
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, ElementsAre("/3", "/4", "/5"));
  EXPECT_THAT(WrittenNodes(), ElementsAre("/3", "/4", "/5"));
  EXPECT_EQ(culprit->inputs[0].name, "v2");
  EXPECT_EQ(ValueOf(culprit->expected[0].tensor), 7);
}

TEST_F(CulpritTest, APieceThatIsWrongWithoutOptimizationsProvesNoFusion) {
  // /5 alone is wrong with and without; only the whole shows the difference.
  const auto culprit = Write(
      Cause::kOptimizer, "/5",
      [](const Model& model, std::size_t index, const LoadRequest& load) {
        const bool cut = model.graph.nodes.size() < 10;
        return Is(model, index, "/5") && (cut || load.optimization == "all")
                   ? 0.5
                   : 0;
      });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, IsEmpty());
}

TEST_F(CulpritTest, AProvidersFaultIsRightOnTheCpu) {
  const auto culprit =
      Write(Cause::kProvider, "/5",
            [](const Model& model, std::size_t index, const LoadRequest& load) {
              return Is(model, index, "/5") && load.provider.empty() ? 0.5 : 0;
            });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, ElementsAre("/5"));
}

TEST_F(CulpritTest, AFaultOfTheWholeIsWrittenAsTheWhole) {
  const auto culprit = Write(
      Cause::kRuntime, "/5",
      [](const Model& model, std::size_t index, const LoadRequest&) {
        return Is(model, index, "/5") && model.graph.nodes.size() == 10 ? 0.5
                                                                        : 0;
      });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, IsEmpty());
  EXPECT_THAT(culprit->why_whole, HasSubstr("/5 is right by itself"));
  EXPECT_EQ(WrittenNodes().size(), 10U);
  EXPECT_EQ(ValueOf(culprit->inputs[0].tensor), 1);
  EXPECT_EQ(culprit->expected[0].name, "y");
  EXPECT_EQ(ValueOf(culprit->expected[0].tensor), 11);
}

TEST_F(CulpritTest, AnExportIsWrittenWholeWithTheReferencesOutputs) {
  const auto culprit =
      Write(Cause::kExport, "/5",
            [](const Model& model, std::size_t index, const LoadRequest&) {
              return Is(model, index, "/5") ? 0.5 : 0;
            });
  ASSERT_TRUE(culprit) << culprit.error().message;
  EXPECT_THAT(culprit->nodes, IsEmpty());
  EXPECT_FALSE(culprit->expected_is_float64);
  EXPECT_EQ(culprit->expected[0].name, "y");
  EXPECT_EQ(ValueOf(culprit->expected[0].tensor), 11);
  EXPECT_EQ(ValueOf(culprit->actual[0].tensor), 11.5);
}

TEST_F(CulpritTest, WhatDoesNotShowIsNoRepro) {
  const auto culprit = Write(Cause::kRuntime, "/5", nullptr);
  ASSERT_FALSE(culprit);
  EXPECT_EQ(culprit.error().code, ErrorCode::kUnsupported);
}

TEST(MeasureReplayTest, NoiseIsNoDifference) {
  const NamedTensors one = {
      {.name = "y", .tensor = Scalar(DType::kFloat32, 1)}};
  const auto measure = [&](double value) {
    return MeasureReplay(
        one, {{.name = "y", .tensor = Scalar(DType::kFloat32, value)}}, 0);
  };
  EXPECT_FALSE(measure(1 + 1e-7).beyond_noise);
  EXPECT_TRUE(measure(1.01).beyond_noise);
  EXPECT_FALSE(measure(1.01).broken);
  EXPECT_NEAR(measure(1.01).max_error, 0.01, 1e-6);
  const ReplayError nan = measure(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(nan.broken && nan.beyond_noise);
}

TEST(MeasureReplayTest, AnotherDtypeAndAMissingOutputAreBroken) {
  const NamedTensors one = {
      {.name = "y", .tensor = Scalar(DType::kFloat32, 1)}};
  EXPECT_TRUE(MeasureReplay(
                  one, {{.name = "y", .tensor = Scalar(DType::kFloat64, 1)}}, 0)
                  .broken);
  EXPECT_TRUE(MeasureReplay(one, {}, 0).broken);
}

}  // namespace
}  // namespace parity
