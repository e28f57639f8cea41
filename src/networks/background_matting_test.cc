#include "networks/background_matting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/graph_checks.h"
#include "graph/model.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "networks/matting_layers.h"
#include "networks/synthetic_weights.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr CropMethod kCrops[] = {CropMethod::kUnfold, CropMethod::kRoiAlign,
                                 CropMethod::kGather};
constexpr ReplaceMethod kReplaces[] = {ReplaceMethod::kScatterNd,
                                       ReplaceMethod::kScatterElement};

// Made once for each set of parameters.
const NamedTensors& Weights(const MattingConfig& config) {
  static std::map<std::string, NamedTensors> made;
  const std::string key = std::string(Name(config.type)) +
                          std::string(Name(config.backbone)) +
                          std::to_string(config.refine_kernel_size);
  auto found = made.find(key);
  if (found == made.end())
    found = made.emplace(key, *SyntheticWeights(config, 0)).first;
  return found->second;
}

MattingExport Build(const MattingConfig& config,
                    const MattingExportOptions& options) {
  Result<MattingExport> built =
      BuildBackgroundMatting(config, Weights(config), options);
  EXPECT_TRUE(built.has_value()) << built.error().message;
  return built.has_value() ? *std::move(built) : MattingExport{};
}

// Every node and every initializer has a name of its own.
void ExpectUniqueNames(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes)
    EXPECT_TRUE(names.insert(node.name).second) << node.name;
  names.clear();
  for (const Initializer& initializer : graph.initializers)
    EXPECT_TRUE(names.insert(initializer.name).second) << initializer.name;
}

void ExpectSoundModel(const MattingConfig& config,
                      const MattingExportOptions& options) {
  SCOPED_TRACE(::testing::Message()
               << Name(config.type) << ' ' << Name(config.backbone) << ' '
               << Name(config.refine_mode) << " k" << config.refine_kernel_size
               << ' ' << Name(options.crop) << ' ' << Name(options.replace)
               << " opset " << options.opset_version << ' '
               << Name(options.precision)
               << (options.constant_folding ? " folded" : " unfolded"));
  const MattingExport built = Build(config, options);
  const Graph& graph = built.model.graph;
  EXPECT_EQ(StructureProblems(built.model), std::vector<std::string>{});
  EXPECT_EQ(built.model.opset_version(), options.opset_version);
  ExpectUniqueNames(graph);
  std::vector<std::string> outputs;
  for (const ValueInfo& output : graph.outputs) {
    outputs.push_back(output.name);
    EXPECT_EQ(output.dtype, DTypeOf(options.precision)) << output.name;
  }
  EXPECT_EQ(outputs, OutputNames(config));
  // A forgotten weight would be an empty tensor; only one constant is empty.
  for (const Initializer& initializer : graph.initializers) {
    if (initializer.name != "constant/float32/[]") {
      EXPECT_GT(initializer.tensor.element_count(), 0) << initializer.name;
    }
  }
}

TEST(BuildBackgroundMattingTest, EveryCombinationAtEveryOpsetIsSound) {
  for (int opset = 11; opset <= 20; ++opset) {
    // Each pair of these meets every crop and replacement.
    MattingConfig config = {.refine_mode = RefineMode::kFull,
                            .refine_kernel_size = opset % 4 < 2 ? 3 : 1};
    MattingExportOptions options = {.opset_version = opset,
                                    .constant_folding = opset % 2 == 0,
                                    .precision = opset % 3 == 0
                                                     ? Precision::kFloat16
                                                     : Precision::kFloat32};
    ExpectSoundModel(config, options);
    for (const RefineMode mode :
         {RefineMode::kSampling, RefineMode::kThresholding}) {
      config.refine_mode = mode;
      for (const CropMethod crop : kCrops) {
        for (const ReplaceMethod replace : kReplaces) {
          options.crop = crop;
          options.replace = replace;
          ExpectSoundModel(config, options);
        }
      }
    }
  }
}

TEST(BuildBackgroundMattingTest, EveryBackboneIsSound) {
  for (const Backbone backbone :
       {Backbone::kResNet50, Backbone::kResNet101, Backbone::kMobileNetV2}) {
    for (const MattingType type : {MattingType::kBase, MattingType::kRefine}) {
      for (const bool fold : {true, false}) {
        ExpectSoundModel({.type = type, .backbone = backbone},
                         {.constant_folding = fold});
      }
    }
  }
}

std::set<std::string> ValueNames(const Graph& graph) {
  std::set<std::string> names;
  for (const Node& node : graph.nodes)
    names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

TEST(BuildBackgroundMattingTest, FoldingKeepsTheNamesOfValues) {
  const Graph folded = Build({}, {.constant_folding = true}).model.graph;
  const Graph unfolded = Build({}, {.constant_folding = false}).model.graph;
  const std::set<std::string> all = ValueNames(unfolded);
  // Folded away is only what a convolution gives to its batch normalisation.
  for (const std::string& name : ValueNames(folded))
    EXPECT_TRUE(all.contains(name)) << name;
  EXPECT_TRUE(all.contains("/backbone/features/0/0/Conv_output_0"));
  EXPECT_TRUE(ValueNames(folded).contains(
      "/backbone/features/0/1/BatchNormalization_output_0"));
  EXPECT_EQ(OpHistogram(folded).at("Conv"), OpHistogram(unfolded).at("Conv"));
  EXPECT_FALSE(OpHistogram(folded).contains("BatchNormalization"));
}

TEST(BuildBackgroundMattingTest, UnfoldedHasTheParametersOfTheCheckpoint) {
  const MattingConfig config;
  const Graph graph = Build(config, {.constant_folding = false}).model.graph;
  std::map<std::string_view, const Tensor*> initializers;
  for (const Initializer& initializer : graph.initializers)
    initializers.emplace(initializer.name, &initializer.tensor);
  for (const NamedTensor& weight : Weights(config)) {
    if (weight.name.ends_with("num_batches_tracked")) continue;
    ASSERT_TRUE(initializers.contains(weight.name)) << weight.name;
    // The same bytes, not a copy.
    EXPECT_EQ(initializers.at(weight.name)->bytes().data(),
              weight.tensor.bytes().data())
        << weight.name;
  }
}

TEST(BuildBackgroundMattingTest, FoldedConvolutionsKeepTheirParametersNames) {
  const MattingConfig config = {.backbone = Backbone::kResNet50};
  const Graph graph = Build(config, {}).model.graph;
  std::set<std::string> names;
  for (const Initializer& initializer : graph.initializers)
    names.insert(initializer.name);
  for (const Parameter& parameter : ParameterTable(config)) {
    if (parameter.shape.size() != 4) continue;
    EXPECT_TRUE(names.contains(parameter.name)) << parameter.name;
  }
  EXPECT_TRUE(names.contains("backbone.conv1.bias"));
  EXPECT_FALSE(names.contains("backbone.bn1.weight"));
}

TEST(BuildBackgroundMattingTest, OnlyBatchAndImageSizesAreFree) {
  const Graph graph = Build({}, {}).model.graph;
  const auto text = [](const ValueInfo& info) {
    std::string shape = info.name;
    for (const Dimension& dimension : *info.shape) {
      shape += ' ' + (dimension.value ? std::to_string(*dimension.value)
                                      : dimension.name);
    }
    return shape;
  };
  std::vector<std::string> declared;
  std::ranges::transform(graph.inputs, std::back_inserter(declared), text);
  std::ranges::transform(graph.outputs, std::back_inserter(declared), text);
  EXPECT_EQ(declared,
            (std::vector<std::string>{
                "src batch 3 height width", "bgr batch 3 height width",
                "pha batch 1 height width", "fgr batch 3 height width",
                "pha_sm batch 1 coarse_height coarse_width",
                "fgr_sm batch 3 coarse_height coarse_width",
                "err_sm batch 1 coarse_height coarse_width",
                "ref_sm batch 1 quarter_height quarter_width"}));
}

TEST(BuildBackgroundMattingTest, MetadataSayWhatWasExported) {
  const MattingConfig config = {.backbone_scale = 0.125,
                                .refine_sample_pixels = 5000};
  const Model model = Build(config, {.crop = CropMethod::kUnfold,
                                     .precision = Precision::kFloat16,
                                     .weights_source = "synthetic seed 0",
                                     .tool_version = "1.2.3"})
                          .model;
  EXPECT_EQ(model.metadata.at("network"), "BackgroundMattingV2");
  EXPECT_EQ(model.metadata.at("patch_crop_method"), "unfold");
  EXPECT_EQ(model.metadata.at("patch_replace_method"), "scatter_element");
  EXPECT_EQ(model.metadata.at("precision"), "float16");
  EXPECT_EQ(model.metadata.at("weights"), "synthetic seed 0");
  EXPECT_EQ(model.metadata.at("weights_sha256"),
            WeightsDigest(Weights(config)));
  EXPECT_EQ(model.producer_version, "1.2.3");
  // What a validation reads the configuration back from.
  const Result<MattingConfig> read = ConfigFromAttributes(model.metadata);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, config);
}

TEST(BuildBackgroundMattingTest, OldOpsetsAreWrittenAsOldFiles) {
  const std::map<int, int> ir_versions = {{11, 6}, {12, 7}, {14, 7}, {15, 8},
                                          {18, 8}, {19, 9}, {20, 9}};
  for (const auto& [opset, ir_version] : ir_versions) {
    EXPECT_EQ(Build({}, {.opset_version = opset}).model.ir_version, ir_version)
        << opset;
  }
}

TEST(BuildBackgroundMattingTest, Float16LossesAreNamed) {
  const MattingConfig config;
  NamedTensors weights = *SyntheticWeights(config, 0);
  for (NamedTensor& entry : weights) {
    if (entry.name != "decoder.conv4.weight") continue;
    const std::span<float> values = entry.tensor.MutableAs<float>();
    std::fill_n(values.begin(), 3, 1e6F);
    std::fill_n(values.begin() + 3, 2, 1e-9F);
  }
  const MattingExportOptions half = {.precision = Precision::kFloat16};
  const Result<MattingExport> built =
      BuildBackgroundMatting(config, weights, half);
  ASSERT_TRUE(built.has_value()) << built.error().message;
  EXPECT_TRUE(std::ranges::contains(
      built->notes,
      "decoder.conv4.weight: 3 values overflow float16, 2 vanish"));
  // The synthetic weights hold a few that vanish, but none that overflow.
  for (const std::string& note : Build(config, half).notes)
    EXPECT_EQ(note.find("overflow"), std::string::npos) << note;
  EXPECT_TRUE(Build(config, {}).notes.empty());
}

TEST(BuildBackgroundMattingTest, WrongRequestsAreExplained) {
  const MattingConfig config;
  NamedTensors weights = Weights(config);
  const Result<MattingExport> opset =
      BuildBackgroundMatting(config, weights, {.opset_version = 10});
  ASSERT_FALSE(opset.has_value());
  EXPECT_EQ(opset.error().message, "opset version 10 is outside 11…20");
  EXPECT_FALSE(BuildBackgroundMatting({.backbone_scale = 0.75}, weights, {})
                   .has_value());
  EXPECT_FALSE(
      BuildBackgroundMatting({.backbone = Backbone::kResNet50}, weights, {})
          .has_value());
  weights.pop_back();
  EXPECT_FALSE(BuildBackgroundMatting(config, weights, {}).has_value());
}

TEST(BuildBackgroundMattingTest, NoSampledCellNeedsNoPatches) {
  const Graph graph = Build({.refine_sample_pixels = 15}, {}).model.graph;
  EXPECT_FALSE(OpHistogram(graph).contains("TopK"));
  EXPECT_FALSE(OpHistogram(graph).contains("RoiAlign"));
}

}  // namespace
}  // namespace parity
