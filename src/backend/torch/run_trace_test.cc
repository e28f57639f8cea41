// What traced runs tell. Scripts are written here as source, or are files that
// PyTorch 2.6 saved (tests/data/torchscript).
#include "backend/torch/run_trace.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/tensor_bridge.h"
#include "backend/torch/torch_backend.h"
#include "base/splitmix.h"
#include "formats/safetensors/safetensors_reader.h"
#include "networks/matting_config.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Not;

using Trace = std::vector<TracedValue>;

// "module op", one a value.
std::vector<std::string> Lines(const Trace& trace) {
  std::vector<std::string> lines;
  for (const TracedValue& value : trace)
    lines.push_back(std::format("{} {}", value.module, value.op));
  return lines;
}

const TracedValue* Find(const Trace& trace, const std::string& line) {
  for (const TracedValue& value : trace) {
    if (std::format("{} {}", value.module, value.op) == line) return &value;
  }
  return nullptr;
}

double Distance(const TracedValue& value, const at::Tensor& expected) {
  return RelativeDistance(value.sketch,
                          SketchOf(ParityFromTorch(expected, "x")->view()));
}

Tensor Floats(const std::vector<float>& values) {
  return *Tensor::From<float>(
      DType::kFloat32, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor Noise(const std::string& name, const Shape& shape) {
  Tensor tensor = *Tensor::Allocate(DType::kFloat32, shape);
  const SplitMixStream stream(name, 0);
  std::uint64_t i = 0;
  for (float& value : tensor.MutableAs<float>())
    value = static_cast<float>(stream.Uniform(i++));
  return tensor;
}

std::string DataPath(const std::string& name, const std::string& file) {
  return std::format("{}/torchscript/{}/{}", PARITY_TEST_DATA, name, file);
}

NamedTensors DataInputs(const std::string& name) {
  return ReadSafetensorsFile(DataPath(name, "inputs.safetensors"))->tensors;
}

class RunTraceTest : public ::testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(path_);
    EXPECT_FALSE(at::hasCallbacks()) << "a trace outlived its run";
    EXPECT_FALSE(IsTracing());
  }

  void Save(const torch::jit::Module& module) { module.save(path_); }
  void Save(const std::string& source) {
    torch::jit::Module module("Model");
    module.define(source);
    Save(module);
  }

  void Load(const std::string& path,
            std::map<std::string, std::string> attributes = {}) {
    const Result<LoadResult> loaded =
        backend_.Load({.kind = ModelKind::kTorchScript,
                       .path = path,
                       .attributes = std::move(attributes)});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  }

  RunResult MustRun(NamedTensors inputs, bool trace = true) {
    Result<RunResult> run =
        backend_.Run({.inputs = std::move(inputs), .trace = trace});
    EXPECT_TRUE(run.has_value()) << run.error().message;
    return run ? *std::move(run) : RunResult{};
  }
  Trace RunScript(const std::string& source, NamedTensors inputs) {
    Save(source);
    Load(path_);
    return MustRun(std::move(inputs)).trace;
  }

  std::string path_ =
      std::filesystem::temp_directory_path() /
      std::format("run_trace_test_{}.pt", static_cast<int>(getpid()));
  TorchBackend backend_;
};

// --- modules of scripts ---

TEST_F(RunTraceTest, ATracedModuleNamesTheModulesOfItsValues) {
  Load(DataPath("encoder_decoder", "reference.pt"));
  const Trace trace = MustRun(DataInputs("encoder_decoder")).trace;
  EXPECT_THAT(Lines(trace),
              ElementsAre("a aten::_convolution", "b aten::batch_norm",
                          " aten::relu", "c aten::_convolution", " aten::relu",
                          " aten::upsample_bilinear2d", " aten::cat",
                          "d aten::_convolution", " aten::sigmoid"));
}

TEST_F(RunTraceTest, AScriptedSequentialNumbersItsModules) {
  // Its batch normalisation calls a free function.
  Load(DataPath("training", "reference.pt"), {{"training", "false"}});
  const Trace trace = MustRun(DataInputs("training")).trace;
  EXPECT_THAT(Lines(trace), ElementsAre("0 aten::batch_norm", "1 aten::relu",
                                        "2 aten::conv2d"));
}

TEST_F(RunTraceTest, NestedModulesHaveDottedPaths) {
  const auto scale = [](const std::string& name, double factor) {
    torch::jit::Module module(name);
    module.register_buffer("factor", at::full({1}, factor));
    module.define("def forward(self, x: Tensor):\n  return x * self.factor\n");
    return module;
  };
  const auto block = [&](const std::string& name, double factor) {
    torch::jit::Module module(name);
    module.register_module("scale", scale(name + "Scale", factor));
    module.define(
        "def twice(self, x: Tensor):\n"
        "  return self.scale.forward(self.scale.forward(x))\n"
        "def forward(self, x: Tensor):\n  return self.twice(x).tanh()\n");
    return module;
  };
  torch::jit::Module layers("Layers");
  layers.register_module("0", block("First", 2));
  layers.register_module("1", block("Second", 3));
  torch::jit::Module module("Model");
  module.register_module("layers", layers);
  module.define(
      "def forward(self, x: Tensor):\n"
      "  x = getattr(self.layers, '0').forward(x)\n"
      "  x = getattr(self.layers, '1').forward(x) + 1\n"
      "  return getattr(self.layers, '0').scale.forward(x)\n");
  Save(module);
  Load(path_);
  EXPECT_THAT(
      Lines(MustRun({{"x", Floats({1, 2})}}).trace),
      ElementsAre("layers.0.scale aten::mul", "layers.0.scale aten::mul",
                  "layers.0 aten::tanh", "layers.1.scale aten::mul",
                  "layers.1.scale aten::mul", "layers.1 aten::tanh",
                  " aten::add", "layers.0.scale aten::mul"));
}

// --- what is recorded ---

TEST_F(RunTraceTest, EveryPassOfALoopAndTheBranchTakenAreThere) {
  Load(DataPath("loop", "reference.pt"));
  const Tensor passes = *Tensor::From<std::int64_t>(
      DType::kInt64, {}, std::vector<std::int64_t>{3});
  const Trace up = MustRun({{"x", Floats({0.5F, 0.75F})}, {"n", passes}}).trace;
  EXPECT_THAT(Lines(up), ElementsAre(" aten::tanh", " aten::mul", " aten::add",
                                     " aten::tanh", " aten::mul", " aten::add",
                                     " aten::tanh", " aten::mul", " aten::add",
                                     " aten::sum", " aten::gt", " aten::mul"));
  const Trace down =
      MustRun({{"x", Floats({-3.5F, -3.75F})}, {"n", passes}}).trace;
  EXPECT_THAT(Lines(down), Contains(" aten::relu"));
}

TEST_F(RunTraceTest, ValuesAreThoseOfADirectComputation) {
  const Tensor x = Noise("x", {2, 3, 8, 9});
  const Trace trace = RunScript(
      "def forward(self, x: Tensor):\n"
      "  y = torch.softmax(x, 1)\n"
      "  y = y.transpose(1, 2)\n"
      "  y.add_(1)\n"
      "  return y.permute(3, 2, 1, 0).reshape(-1).exp()\n",
      {{"x", x}});
  ASSERT_THAT(Lines(trace),
              ElementsAre(" aten::softmax", " aten::add_", " aten::exp"));
  const at::Tensor input = *TorchFromParity(x);
  const at::Tensor softmax = at::softmax(input, 1);
  const at::Tensor added = softmax.transpose(1, 2).add(1);
  EXPECT_EQ(Distance(trace[0], softmax), 0);
  EXPECT_EQ(trace[0].shape, (Shape{2, 3, 8, 9}));
  EXPECT_EQ(Distance(trace[1], added), 0);
  EXPECT_EQ(trace[1].shape, (Shape{2, 8, 3, 9}));
  EXPECT_EQ(Distance(trace[2], added.permute({3, 2, 1, 0}).reshape(-1).exp()),
            0);
  EXPECT_EQ(trace[2].shape, Shape{432});
  for (const TracedValue& value : trace) {
    EXPECT_EQ(value.dtype, DType::kFloat32);
    EXPECT_EQ(value.name, "");
    EXPECT_FALSE(value.tensor.has_value());
  }
}

TEST_F(RunTraceTest, EachOutputOfAnOperatorIsAValueAndIntegersComeWhole) {
  const Trace trace = RunScript(
      "def forward(self, x: Tensor):\n"
      "  values, indices = torch.topk(x, 2)\n"
      "  return values * 2, x > 2.5, torch.round(x), torch._cast_Int(x)\n",
      {{"x", Floats({1.25F, 3.25F, 2.25F, 0.25F})}});
  ASSERT_THAT(Lines(trace),
              ElementsAre(" aten::topk", " aten::topk", " aten::mul",
                          " aten::gt", " aten::round"));
  EXPECT_FALSE(trace[0].tensor.has_value());
  ASSERT_TRUE(trace[1].tensor.has_value());
  EXPECT_EQ(trace[1].dtype, DType::kInt64);
  EXPECT_THAT(trace[1].tensor->As<std::int64_t>(), ElementsAre(1, 2));
  ASSERT_TRUE(trace[3].tensor.has_value());
  EXPECT_THAT(trace[3].tensor->As<std::uint8_t>(), ElementsAre(0, 1, 0, 0));
  ASSERT_TRUE(trace[4].tensor.has_value());
  // The conversion to int32 has the same numbers, and adds nothing.
  EXPECT_THAT(trace[4].tensor->As<float>(), ElementsAre(1, 3, 2, 0));
}

TEST_F(RunTraceTest, WhatComputesNothingIsLeftOut) {
  EXPECT_THAT(Lines(RunScript(
                  "def forward(self, x: Tensor):\n"
                  "  y = torch.zeros([2, 2]).fill_(3.0)\n"
                  "  z = torch.empty([4])\n"
                  "  z.copy_(x)\n"
                  "  z = torch.dropout(z.clone().exp(), 0.5, False)\n"
                  "  first, second = z.view(2, 2).unsqueeze(0).expand(3, 2, 2)"
                  ".contiguous().split(1, 1)\n"
                  "  return torch.matmul(first.detach()[:, :, 0:1], y[0:1])\n",
                  {{"x", Floats({1, 2, 3, 4})}})),
              ElementsAre(" aten::exp", " aten::matmul"));
}

TEST_F(RunTraceTest, WithoutTheFlagNothingIsRecorded) {
  Load(DataPath("encoder_decoder", "reference.pt"));
  EXPECT_THAT(MustRun(DataInputs("encoder_decoder"), false).trace, IsEmpty());
  EXPECT_THAT(MustRun(DataInputs("encoder_decoder"), true).trace,
              Not(IsEmpty()));
  EXPECT_THAT(MustRun(DataInputs("encoder_decoder"), false).trace, IsEmpty());
}

TEST_F(RunTraceTest, ARunThatFailsEndsItsTrace) {
  Save(
      "def forward(self, x: Tensor):\n"
      "  return torch.matmul(x.exp(), torch.ones([7, 2]))\n");
  Load(path_);
  const Result<RunResult> run =
      backend_.Run({.inputs = {{"x", Floats({1, 2})}}, .trace = true});
  ASSERT_FALSE(run.has_value());
  EXPECT_FALSE(at::hasCallbacks());
  EXPECT_FALSE(IsTracing());
  RunTrace trace;
  EXPECT_TRUE(IsTracing());
  EXPECT_THAT(trace.Take(), IsEmpty());
  EXPECT_FALSE(IsTracing());
}

// --- the built-in network ---

class NetworkTraceTest : public RunTraceTest {
 protected:
  void LoadNetwork(const MattingConfig& config, int threads = 2) {
    const Result<LoadResult> loaded =
        backend_.Load({.kind = ModelKind::kNetwork,
                       .attributes = ToAttributes(config),
                       .weights = SyntheticWeights(config, 0).value(),
                       .threads = threads,
                       .reference_kernels = "native"});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  }
  static NamedTensors Images(const Shape& shape) {
    return {{"src", Noise("src", shape)}, {"bgr", Noise("bgr", shape)}};
  }
};

TEST_F(NetworkTraceTest, ModulesAreThoseOfTheOriginal) {
  LoadNetwork({.backbone = Backbone::kMobileNetV2});
  const std::vector<std::string> lines =
      Lines(MustRun(Images({1, 3, 64, 96})).trace);
  EXPECT_EQ(lines.front(), " aten::upsample_bilinear2d");
  EXPECT_EQ(lines.back(), " aten::clamp_");
  EXPECT_THAT(lines, Not(Contains(EndsWith("aten::to"))));
  for (const char* const line :
       {" aten::cat", "backbone.features.0.0 aten::conv2d",
        "backbone.features.0 aten::clamp_",
        "backbone.features.3.conv.1.0 aten::conv2d",
        "backbone.features.3 aten::add_", "aspp.convs.2.0 aten::conv2d",
        "aspp.project aten::relu_", "decoder aten::upsample_bilinear2d",
        "decoder.conv1 aten::conv2d", "refiner aten::topk",
        "refiner.conv1 aten::conv2d", "refiner.bn2 aten::native_batch_norm",
        "refiner.conv4 aten::conv2d"})
    EXPECT_THAT(lines, Contains(line));
  LoadNetwork({.backbone = Backbone::kResNet50});
  EXPECT_THAT(Lines(MustRun(Images({1, 3, 32, 32})).trace),
              Contains("backbone.layer1.0.downsample.0 aten::conv2d"));
}

TEST_F(NetworkTraceTest, EachLayerIsOneValueAndOutputsStayTheSame) {
  const Shape shape = {2, 3, 160, 192};
  for (const RefineMode mode : {RefineMode::kSampling, RefineMode::kFull}) {
    LoadNetwork({.refine_mode = mode, .refine_sample_pixels = 9'600});
    const RunResult plain = MustRun(Images(shape), false);
    const RunResult traced = MustRun(Images(shape), true);
    ASSERT_EQ(traced.outputs.size(), plain.outputs.size());
    for (std::size_t i = 0; i < plain.outputs.size(); ++i) {
      // Not the same bits: products of other sizes are summed in other orders.
      EXPECT_THAT(traced.outputs[i].tensor.As<float>(),
                  ::testing::Pointwise(::testing::FloatNear(2e-6F),
                                       plain.outputs[i].tensor.As<float>()))
          << plain.outputs[i].name;
    }
    const auto conv = [&](const char* line) {
      return std::ranges::count(Lines(traced.trace), line);
    };
    EXPECT_EQ(conv("refiner.conv1 aten::conv2d"), 1);
    EXPECT_EQ(conv("refiner.conv4 aten::conv2d"), 1);
    EXPECT_EQ(conv("backbone.features.0.0 aten::conv2d"), 1);
    EXPECT_EQ(conv("refiner.conv1 aten::constant_pad_nd"), 0);
    const TracedValue* const cells =
        Find(traced.trace, "refiner.conv4 aten::conv2d");
    ASSERT_NE(cells, nullptr);
    EXPECT_EQ(cells->shape, mode == RefineMode::kFull
                                ? (Shape{2, 4, 160, 192})
                                : (Shape{2L * 600, 4, 4, 4}));
  }
}

TEST_F(NetworkTraceTest,
       WhatTheRefinerPutsIntoItsFramesIsJoinedAsInTheOriginal) {
  LoadNetwork({.backbone = Backbone::kMobileNetV2});
  std::vector<Shape> joined;
  const Trace trace = MustRun(Images({1, 3, 64, 96})).trace;
  for (const TracedValue& value : trace) {
    if (value.op == "aten::cat" && value.module == "refiner")
      joined.push_back(value.shape);
  }
  for (const Shape& shape :
       {Shape{1, 6, 64, 96}, Shape{1, 36, 16, 24}, Shape{1, 42, 32, 48}})
    EXPECT_THAT(joined, Contains(shape)) << ToString(shape);
}

TEST_F(NetworkTraceTest, TheSelectedCellsComeWhole) {
  LoadNetwork({.refine_sample_pixels = 320});
  const Trace trace = MustRun(Images({1, 3, 64, 64})).trace;
  std::vector<const TracedValue*> topk;
  for (const TracedValue& value : trace) {
    if (value.op == "aten::topk") topk.push_back(&value);
  }
  ASSERT_EQ(topk.size(), 2U);
  EXPECT_EQ(topk[0]->dtype, DType::kFloat32);
  ASSERT_TRUE(topk[1]->tensor.has_value());
  EXPECT_EQ(topk[1]->tensor->dtype(), DType::kInt64);
  EXPECT_EQ(topk[1]->tensor->shape(), (Shape{1, 20}));
}

}  // namespace
}  // namespace parity
