// Exported graphs on ONNX Runtime against outputs of the original PyTorch
// model, and against each other where there is no golden.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/ort/ort_backend.h"
#include "base/half.h"
#include "base/status_macros.h"
#include "formats/onnx/onnx_writer.h"
#include "golden.h"
#include "networks/background_matting.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// A model on a runtime. Outputs live as long as this.
class ExportedModel {
 public:
  ExportedModel() = default;
  ExportedModel(const ExportedModel&) = delete;
  ExportedModel& operator=(const ExportedModel&) = delete;

  [[nodiscard]] Result<NamedTensors> Run(const Golden& golden,
                                         const MattingExportOptions& options,
                                         const std::string& optimization) {
    PARITY_ASSIGN_OR_RETURN(
        const MattingExport built,
        BuildBackgroundMatting(golden.config, golden.weights, options));
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) /
        std::format("export-{}.onnx", getpid());
    PARITY_RETURN_IF_ERROR(WriteOnnxModel(built.model, path));
    LoadRequest request;
    request.path = path;
    request.optimization = optimization;
    const Result<LoadResult> loaded = backend_.Load(request);
    std::filesystem::remove(path);
    if (!loaded) return std::unexpected(loaded.error());
    PARITY_ASSIGN_OR_RETURN(
        RunResult result,
        backend_.Run({.inputs = golden.inputs, .output_names = {}}));
    return std::move(result.outputs);
  }

 private:
  OrtBackend backend_;
};

// As copies, which outlive the runtime.
Result<NamedTensors> RunExport(const Golden& golden,
                               const MattingExportOptions& options,
                               const std::string& optimization = "all") {
  ExportedModel model;
  PARITY_ASSIGN_OR_RETURN(const NamedTensors outputs,
                          model.Run(golden, options, optimization));
  NamedTensors copies;
  for (const auto& [name, tensor] : outputs) {
    PARITY_ASSIGN_OR_RETURN(
        Tensor copy,
        Tensor::Copy(tensor.dtype(), tensor.shape(), tensor.bytes()));
    copies.push_back({.name = name, .tensor = std::move(copy)});
  }
  return copies;
}

constexpr CropMethod kCrops[] = {CropMethod::kUnfold, CropMethod::kRoiAlign,
                                 CropMethod::kGather};
constexpr ReplaceMethod kReplaces[] = {ReplaceMethod::kScatterNd,
                                       ReplaceMethod::kScatterElement};

// What to export of a golden. Networks of hundreds of megabytes have only a
// few; the graph after their encoder is the same.
std::vector<MattingExportOptions> OptionsFor(const MattingConfig& config) {
  if (config.backbone != Backbone::kMobileNetV2) {
    return {{.crop = CropMethod::kUnfold,
             .replace = ReplaceMethod::kScatterElement,
             .opset_version = 11},
            {.crop = CropMethod::kRoiAlign, .opset_version = 16},
            {.crop = CropMethod::kGather,
             .replace = ReplaceMethod::kScatterNd,
             .opset_version = 20}};
  }
  const bool patches = config.type == MattingType::kRefine &&
                       config.refine_mode != RefineMode::kFull;
  std::vector<MattingExportOptions> all;
  for (const int opset : {11, 13, 16, 17, 20}) {
    for (const CropMethod crop : kCrops) {
      for (const ReplaceMethod replace : kReplaces) {
        all.push_back(
            {.crop = crop, .replace = replace, .opset_version = opset});
        if (!patches) break;
      }
      if (!patches) break;
    }
  }
  return all;
}

std::string Describe(const MattingExportOptions& options) {
  return std::format("{} {} opset {}", Name(options.crop),
                     Name(options.replace), options.opset_version);
}

class ExportGoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Golden> golden = LoadGolden(GetParam());
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = *std::move(golden);
  }

  void ExpectGoldenOutputs(const MattingExportOptions& options,
                           const std::string& optimization) {
    SCOPED_TRACE(Describe(options));
    const Result<NamedTensors> outputs =
        RunExport(golden_, options, optimization);
    ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
    ASSERT_EQ(outputs->size(), golden_.outputs.size());
    for (const auto& [name, actual] : *outputs) {
      const Tensor* expected = FindTensor(golden_.outputs, name);
      ASSERT_NE(expected, nullptr) << name;
      ASSERT_EQ(actual.shape(), expected->shape()) << name;
      ASSERT_EQ(actual.dtype(), DType::kFloat32) << name;
      EXPECT_LE(MaxDifference(*expected, actual), name == "ref_sm" ? 0 : 1e-5)
          << name;
    }
  }

  Golden golden_;
};

TEST_P(ExportGoldenTest, EveryCombinationComputesTheGolden) {
  for (const MattingExportOptions& options : OptionsFor(golden_.config))
    ExpectGoldenOutputs(options, "all");
}

TEST_P(ExportGoldenTest, SoDoesTheUnfoldedGraphAsItIsWritten) {
  ExpectGoldenOutputs({.opset_version = 15, .constant_folding = false},
                      "disabled");
}

NamedTensors ToHalf(const NamedTensors& tensors) {
  NamedTensors halves;
  for (const auto& [name, tensor] : tensors) {
    std::vector<std::uint16_t> values;
    for (const float value : tensor.As<float>())
      values.push_back(HalfFromFloat(value));
    halves.push_back(
        {.name = name,
         .tensor = *Tensor::From(DType::kFloat16, tensor.shape(),
                                 std::span<const std::uint16_t>(values))});
  }
  return halves;
}

// max |actual − expected| (N,C,H,W) over the cells both sides mark or both
// leave: in float16 other cells may be the largest.
double MaxDifferenceInAgreedCells(const Tensor& expected, const Tensor& actual,
                                  const Tensor& expected_ref,
                                  const Tensor& actual_ref) {
  const auto width = static_cast<std::size_t>(expected.shape()[3]);
  const auto height = static_cast<std::size_t>(expected.shape()[2]);
  const auto channels = static_cast<std::size_t>(expected.shape()[1]);
  double largest = 0;
  for (std::size_t i = 0; i < expected.As<float>().size(); ++i) {
    const std::size_t x = i % width;
    const std::size_t y = i / width % height;
    const std::size_t image = i / width / height / channels;
    const std::size_t cell =
        (image * (height / 4) + y / 4) * (width / 4) + x / 4;
    if (FloatFromHalf(actual_ref.As<std::uint16_t>()[cell]) !=
        expected_ref.As<float>()[cell])
      continue;
    const double difference = std::abs(
        static_cast<double>(FloatFromHalf(actual.As<std::uint16_t>()[i])) -
        expected.As<float>()[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

TEST_P(ExportGoldenTest, Float16IsCloseWhereTheSameCellsAreMarked) {
  golden_.inputs = ToHalf(golden_.inputs);
  const bool is_small = golden_.config.backbone == Backbone::kMobileNetV2;
  for (const CropMethod crop :
       is_small ? std::span(kCrops) : std::span(kCrops).first(1)) {
    for (const int opset : is_small ? std::vector{11, 17} : std::vector{20}) {
      const MattingExportOptions options = {.crop = crop,
                                            .opset_version = opset,
                                            .precision = Precision::kFloat16};
      SCOPED_TRACE(Describe(options));
      const Result<NamedTensors> outputs = RunExport(golden_, options);
      ASSERT_TRUE(outputs.has_value()) << outputs.error().message;
      const Tensor* ref = FindTensor(*outputs, "ref_sm");
      for (const auto& [name, actual] : *outputs) {
        const Tensor& expected = *FindTensor(golden_.outputs, name);
        ASSERT_EQ(actual.shape(), expected.shape()) << name;
        ASSERT_EQ(actual.dtype(), DType::kFloat16) << name;
        if (name == "ref_sm") continue;
        const bool by_cell = ref != nullptr && (name == "pha" || name == "fgr");
        const double difference =
            by_cell ? MaxDifferenceInAgreedCells(
                          expected, actual,
                          *FindTensor(golden_.outputs, "ref_sm"), *ref)
                    : MaxDifference(expected, actual);
        // The base network alone is at full size, with larger values.
        EXPECT_LE(difference, ref != nullptr ? 1e-2 : 2e-2) << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, ExportGoldenTest,
                         ::testing::ValuesIn(GoldenNames()),
                         [](const auto& golden) {
                           return TestName(golden.param);
                         });

constexpr const char* kTwoImages =
    "mattingrefine-mobilenetv2-sampling-k3-s0.25-2x3x92x116";

constexpr std::int64_t kCells = 667;  // 23·29, in each of the two images

// Outputs of `config` on the weights and inputs of kTwoImages.
NamedTensors Outputs(const MattingConfig& config,
                     const MattingExportOptions& options = {}) {
  Result<Golden> golden = LoadGolden(kTwoImages);
  EXPECT_TRUE(golden.has_value());
  golden->config = config;
  Result<NamedTensors> outputs = RunExport(*golden, options);
  EXPECT_TRUE(outputs.has_value()) << outputs.error().message;
  return outputs.has_value() ? *std::move(outputs) : NamedTensors{};
}

void ExpectEqual(const NamedTensors& expected, const NamedTensors& actual) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(expected[i].tensor.bytes(),
                                   actual[i].tensor.bytes()))
        << expected[i].name;
  }
}

// Marked cells of each image.
std::vector<std::int64_t> MarkedCells(const NamedTensors& outputs) {
  const Tensor& ref = *FindTensor(outputs, "ref_sm");
  const std::int64_t images = ref.shape()[0];
  const std::int64_t cells = ref.element_count() / images;
  std::vector<std::int64_t> marked;
  marked.reserve(static_cast<std::size_t>(images));
  for (std::int64_t image = 0; image < images; ++image) {
    marked.push_back(std::ranges::count(
        ref.As<float>().subspan(static_cast<std::size_t>(image * cells),
                                static_cast<std::size_t>(cells)),
        1.0F));
  }
  return marked;
}

TEST(ExportedSelectionTest, SamplingMoreCellsThanThereAreTakesThemAll) {
  const NamedTensors all = Outputs(
      {.refine_mode = RefineMode::kThresholding, .refine_threshold = 0});
  for (const int opset : {11, 12, 20}) {
    SCOPED_TRACE(opset);
    ExpectEqual(all, Outputs({.refine_sample_pixels = 1'000'000'000},
                             {.opset_version = opset}));
  }
}

TEST(ExportedSelectionTest, FewerPixelsThanACellMarkNothing) {
  const NamedTensors none = Outputs(
      {.refine_mode = RefineMode::kThresholding, .refine_threshold = 1});
  EXPECT_EQ(MarkedCells(none), (std::vector<std::int64_t>{0, 0}));
  ExpectEqual(none, Outputs({.refine_sample_pixels = 15}));
  ExpectEqual(none, Outputs({.refine_sample_pixels = 0}));
}

TEST(ExportedSelectionTest, WithoutPreventionTheCountIsExactInEveryImage) {
  EXPECT_EQ(MarkedCells(Outputs({.refine_sample_pixels = 16 * 100 + 15,
                                 .refine_prevent_oversampling = false})),
            (std::vector<std::int64_t>{100, 100}));
  EXPECT_EQ(MarkedCells(Outputs({.refine_sample_pixels = 1'000'000,
                                 .refine_prevent_oversampling = false})),
            (std::vector<std::int64_t>{kCells, kCells}));
}

TEST(ExportedPatchesTest, EveryCombinationGivesTheSameBits) {
  const MattingConfig config = {.refine_mode = RefineMode::kThresholding,
                                .refine_threshold = 0.4};
  const NamedTensors first = Outputs(config);
  for (const std::int64_t marked : MarkedCells(first)) {
    EXPECT_GT(marked, 0);
    EXPECT_LT(marked, kCells);
  }
  for (const CropMethod crop : kCrops) {
    for (const ReplaceMethod replace : kReplaces) {
      const MattingExportOptions options = {.crop = crop, .replace = replace};
      SCOPED_TRACE(Describe(options));
      ExpectEqual(first, Outputs(config, options));
    }
  }
}

}  // namespace
}  // namespace parity
