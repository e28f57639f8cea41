// Plants faults in the export of the matting network and looks for them with
// both sides computed by ONNX Runtime: the reference is another export of the
// same network (nothing folded, patches cut and put back by other operators),
// of which only values are kept that PyTorch would have, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/ort/ort_backend.h"
#include "base/splitmix.h"
#include "base/status_macros.h"
#include "benign_variants.h"
#include "diagnose/module_path.h"
#include "diagnose/value_alignment.h"
#include "fault_planting.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "graph_facts.h"
#include "networks/background_matting.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// What float32 makes of numbers that are equal in float64.
constexpr double kTolerance = 2e-5;
// Outputs that differ by less are not worth a diagnosis.
constexpr double kVisible = 1e-3;

struct Computed {
  NamedTensors outputs;
  std::vector<TracedValue> values;  // in the order of the nodes
};

// The model with every value as an output.
Model WithAllOutputs(const Model& model) {
  Model open = model;
  const GraphFacts facts(model.graph);
  for (const Node& node : model.graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (!facts.TypeOf(output).has_value() ||
          std::ranges::contains(model.graph.outputs, output, &ValueInfo::name))
        continue;
      ValueInfo& info = open.graph.outputs.emplace_back();
      info.name = output;
      info.dtype = facts.TypeOf(output);
    }
  }
  return open;
}

std::string TemporaryPath() {
  const std::string test =
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  return std::filesystem::temp_directory_path() /
         ("parity_alignment_" + test + ".onnx");
}

Result<Computed> Compute(OrtBackend& runtime, const Model& model,
                         const NamedTensors& inputs) {
  const std::string path = TemporaryPath();
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(WithAllOutputs(model), path));
  LoadRequest load;
  load.path = path;
  load.optimization = "disabled";
  const Result<LoadResult> loaded = runtime.Load(load);
  std::filesystem::remove(path);
  PARITY_RETURN_IF_ERROR(loaded);
  RunRequest run;
  run.inputs = inputs;
  PARITY_ASSIGN_OR_RETURN(const RunResult result, runtime.Run(run));
  Computed computed;
  for (const ValueInfo& output : model.graph.outputs) {
    const Tensor* const tensor = FindTensor(result.outputs, output.name);
    if (tensor == nullptr) continue;
    // A copy: the runtime's own goes with its session.
    PARITY_ASSIGN_OR_RETURN(
        Tensor copy,
        Tensor::Copy(tensor->dtype(), tensor->shape(), tensor->bytes()));
    computed.outputs.push_back(
        {.name = output.name, .tensor = std::move(copy)});
  }
  for (const Node& node : model.graph.nodes) {
    for (const std::string& output : node.outputs) {
      const Tensor* const tensor = FindTensor(result.outputs, output);
      if (tensor == nullptr) continue;
      computed.values.push_back({.name = output,
                                 .op = node.op_type,
                                 .module = node.name,
                                 .dtype = tensor->dtype(),
                                 .shape = tensor->shape(),
                                 .sketch = SketchOf(tensor->view())});
    }
  }
  return computed;
}

// "Conv" → "aten::convolution": as a trace of PyTorch names it.
std::string TorchName(const std::string& onnx_op) {
  static const std::map<std::string, std::string> names = {
      {"Conv", "convolution"},   {"BatchNormalization", "batch_norm"},
      {"Clip", "hardtanh"},      {"Concat", "cat"},
      {"Greater", "gt"},         {"Resize", "upsample_bilinear2d"},
      {"Reshape", "view"},       {"Transpose", "permute"},
      {"Gather", "index"},       {"GlobalAveragePool", "adaptive_avg_pool2d"},
      {"Pad", "constant_pad_nd"}};
  const auto found = names.find(onnx_op);
  if (found != names.end()) return "aten::" + found->second;
  std::string name = "aten::";
  for (const char c : onnx_op)
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

// Waves with some noise: pictures of 192×128.
Tensor Picture(std::string_view name) {
  const SplitMixStream noise(name, 1);
  const double phase = 2 * noise.Uniform(0);
  std::vector<float> pixels;
  for (int channel = 0; channel < 3; ++channel) {
    for (int y = 0; y < 128; ++y) {
      for (int x = 0; x < 192; ++x) {
        const double wave =
            0.3 * std::sin(0.05 * x * (channel + 1) + 0.07 * y + phase);
        pixels.push_back(static_cast<float>(
            0.4 + wave + 0.2 * noise.Uniform(pixels.size())));
      }
    }
  }
  return Tensor::From<float>(DType::kFloat32, {1, 3, 128, 192}, pixels).value();
}

std::vector<std::string> WrongOutputs(const NamedTensors& expected,
                                      const NamedTensors& actual) {
  std::vector<std::string> wrong;
  for (const auto& [name, tensor] : expected) {
    const Tensor* const other = FindTensor(actual, name);
    const auto same = [](float a, float b) {
      return std::abs(a - b) < kVisible;
    };
    if (other == nullptr || other->shape() != tensor.shape() ||
        !std::ranges::equal(tensor.As<float>(), other->As<float>(), same))
      wrong.push_back(name);
  }
  return wrong;
}

class AlignmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const MattingConfig config = {.refine_sample_pixels = 8000};
    const NamedTensors weights = SyntheticWeights(config, 0).value();
    candidate_ = BuildBackgroundMatting(config, weights, {}).value().model;
    const Model reference =
        BuildBackgroundMatting(config, weights,
                               {.crop = CropMethod::kUnfold,
                                .replace = ReplaceMethod::kScatterNd,
                                .constant_folding = false})
            .value()
            .model;
    for (const char* name : {"src", "bgr"}) {
      inputs_.push_back({.name = name, .tensor = Picture(name)});
      input_values_.push_back(
          {.name = name,
           .shape = inputs_.back().tensor.shape(),
           .sketch = SketchOf(inputs_.back().tensor.view())});
    }
    Result<Computed> computed = Compute(runtime_, reference, inputs_);
    ASSERT_TRUE(computed.has_value()) << computed.error().message;
    reference_ = *std::move(computed);
    const GraphFacts facts(reference.graph);
    // Sizes are no tensors in PyTorch.
    std::erase_if(reference_.values, [&](const TracedValue& value) {
      return !facts.IsData(value.name);
    });
    for (TracedValue& value : reference_.values) {
      value.module = ModulePathOf(value.name);
      value.op = TorchName(value.op);
      value.name.clear();
    }
  }

  // Nothing when the outputs do not show the fault.
  std::optional<Divergence> Diagnose(const Model& model) {
    const Result<Computed> computed = Compute(runtime_, model, inputs_);
    EXPECT_TRUE(computed.has_value()) << computed.error().message;
    if (!computed.has_value()) return std::nullopt;
    const std::vector<std::string> wrong =
        WrongOutputs(reference_.outputs, computed->outputs);
    return FindDivergence({.graph = model.graph,
                           .reference = reference_.values,
                           .candidate = computed->values,
                           .inputs = input_values_,
                           .wrong_outputs = wrong,
                           .tolerance = kTolerance});
  }

  // Of faults of every kind: how many show, how many are found.
  void ExpectFaultsFound(const Model& correct, std::uint64_t seeds) {
    int seen = 0;
    int exact = 0;
    for (const FaultKind kind : kFaultKinds) {
      for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const PlantedFault fault = PlantFault(correct, kind, seed).value();
        SCOPED_TRACE(fault.description);
        const std::optional<Divergence> found = Diagnose(fault.model);
        if (!found.has_value()) continue;
        ++seen;
        const auto is_planted = [&](const std::string& node) {
          return node == fault.node || std::ranges::contains(fault.added, node);
        };
        if (is_planted(found->node)) {
          ++exact;
          continue;
        }
        EXPECT_TRUE(std::ranges::any_of(found->region, is_planted) ||
                    std::ranges::any_of(found->other_suspects, is_planted))
            << "reported " << found->node;
      }
    }
    EXPECT_GT(seen, static_cast<int>(seeds) * 4);
    EXPECT_GE(exact * 10, seen * 9) << exact << " of " << seen;
  }

  OrtBackend runtime_;
  Model candidate_;
  NamedTensors inputs_;
  std::vector<TracedValue> input_values_;
  Computed reference_;
};

TEST_F(AlignmentTest, CorrectExportsAndTheirVariantsShowNothing) {
  EXPECT_FALSE(Diagnose(candidate_).has_value());
  for (const BenignKind kind : kBenignKinds) {
    SCOPED_TRACE(Name(kind));
    const Result<Model> variant = BenignVariant(candidate_, kind, 0);
    if (kind == BenignKind::kConstantInitializers) continue;  // has none
    ASSERT_TRUE(variant.has_value());
    EXPECT_FALSE(Diagnose(*variant).has_value());
  }
}

TEST_F(AlignmentTest, PlantedFaultsAreFound) {
  ExpectFaultsFound(candidate_, 6);
}

TEST_F(AlignmentTest, PlantedFaultsAreFoundWithoutNames) {
  ExpectFaultsFound(BenignVariant(candidate_, BenignKind::kRenamed, 0).value(),
                    6);
}

}  // namespace
}  // namespace parity
