// The built-in network behind the backend: what goldens do not show.
#include "backend/torch/torch_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/half.h"
#include "base/splitmix.h"
#include "networks/matting_config.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

LoadRequest NetworkRequest(const MattingConfig& config) {
  return {.kind = ModelKind::kNetwork,
          .attributes = ToAttributes(config),
          .weights = SyntheticWeights(config, 0).value()};
}

Tensor Image(const std::string& name, const Shape& shape) {
  Tensor image = Tensor::Allocate(DType::kFloat32, shape).value();
  const SplitMixStream stream(name, 0);
  std::size_t i = 0;
  for (float& value : image.MutableAs<float>())
    value = static_cast<float>(stream.Uniform(i++));
  return image;
}

RunRequest Images(const Shape& shape) {
  return {
      .inputs = {{"src", Image("src", shape)}, {"bgr", Image("bgr", shape)}}};
}

RunResult MustRun(const MattingConfig& config, const Shape& shape) {
  TorchBackend backend;
  const Result<LoadResult> loaded = backend.Load(NetworkRequest(config));
  EXPECT_TRUE(loaded.has_value()) << loaded.error().message;
  Result<RunResult> run = backend.Run(Images(shape));
  EXPECT_TRUE(run.has_value()) << run.error().message;
  return std::move(run).value();
}

double Sum(const Tensor& tensor) {
  const auto values = tensor.As<float>();
  return std::accumulate(values.begin(), values.end(), 0.0);
}

float MaxDifference(const Tensor& expected, const Tensor& actual) {
  float largest = 0;
  for (std::size_t i = 0; i < expected.As<float>().size(); ++i) {
    largest = std::max(
        largest, std::abs(actual.As<float>()[i] - expected.As<float>()[i]));
  }
  return largest;
}

TEST(TorchBackendTest, RunningBeforeLoadingIsAnError) {
  TorchBackend backend;
  const Result<RunResult> run = backend.Run(Images({1, 3, 8, 8}));
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kInvalidArgument);
}

TEST(TorchBackendTest, RequestsWithoutMeaningAreErrors) {
  struct Case {
    LoadRequest request;
    ErrorCode code;
    std::string message;
  };
  LoadRequest onnx = NetworkRequest({});
  onnx.kind = ModelKind::kOnnx;
  onnx.path = "missing.onnx";
  LoadRequest precision = NetworkRequest({});
  precision.precision = "float8";
  LoadRequest kernels = NetworkRequest({});
  kernels.reference_kernels = "cuda";
  LoadRequest attribute = NetworkRequest({});
  attribute.attributes["backbone"] = "vgg";
  LoadRequest weights = NetworkRequest({});
  weights.weights.pop_back();
  for (const Case& c :
       {Case{onnx, ErrorCode::kNotFound, "missing.onnx"},
        Case{precision, ErrorCode::kInvalidArgument, "not 'float8'"},
        Case{kernels, ErrorCode::kInvalidArgument, "not 'cuda'"},
        Case{attribute, ErrorCode::kInvalidArgument, "vgg"},
        Case{weights, ErrorCode::kIncompatible,
             "1 missing: refiner.conv4.bias"}}) {
    TorchBackend backend;
    const Result<LoadResult> loaded = backend.Load(c.request);
    ASSERT_FALSE(loaded.has_value()) << c.message;
    EXPECT_EQ(loaded.error().code, c.code);
    EXPECT_THAT(loaded.error().message, HasSubstr(c.message));
    EXPECT_FALSE(backend.Run(Images({1, 3, 8, 8})).has_value());
  }
}

TEST(TorchBackendTest, LoadingSaysWhatComputes) {
  TorchBackend backend;
  LoadRequest request = NetworkRequest({});
  request.reference_kernels = "native";
  const Result<LoadResult> loaded = backend.Load(request);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->version, StartsWith("libtorch "));
  EXPECT_THAT(loaded->kernels, StartsWith("native ("));
  EXPECT_THAT(loaded->notes, IsEmpty());
  EXPECT_THAT(loaded->input_names, ElementsAre("src", "bgr"));
  EXPECT_THAT(loaded->output_names, ElementsAre("pha", "fgr", "pha_sm",
                                                "fgr_sm", "err_sm", "ref_sm"));
  EXPECT_GT(loaded->load_ms, 0);
}

TEST(TorchBackendTest, InputsThatDoNotFitAreNamedBeforeAnythingIsComputed) {
  struct Case {
    NamedTensors inputs;
    std::string message;
  };
  const Tensor image = Image("src", {1, 3, 8, 8});
  const auto both = [](const Tensor& tensor) {
    return NamedTensors{{"src", tensor}, {"bgr", tensor}};
  };
  TorchBackend backend;
  ASSERT_TRUE(backend.Load(NetworkRequest({})).has_value());
  for (const Case& c : {
           Case{{}, "no input 'src' is given"},
           Case{{{"src", image}}, "no input 'bgr' is given"},
           Case{
               {{"src", image}, {"bgr", Image("b", {1, 3, 8, 12})}},
               "'src' (1x3x8x8) and 'bgr' (1x3x8x12) must have the same shape"},
           Case{both(Image("x", {1, 3, 8, 10})),
                "'src' is 1x3x8x10: MattingRefine needs a height and width "
                "divisible by 4"},
           Case{both(Image("x", {1, 3, 6, 8})), "divisible by 4"},
           Case{both(Image("x", {3, 8, 8})), "'src' is 3x8x8, but"},
           Case{both(Image("x", {1, 4, 8, 8})), "'src' is 1x4x8x8, but"},
           Case{both(Image("x", {0, 3, 8, 8})), "not empty"},
           Case{both(Image("x", {1, 3, 0, 8})), "not empty"},
           Case{both(*Tensor::Allocate(DType::kUInt8, {1, 3, 8, 8})),
                "'src' has dtype Byte"},
       }) {
    const Result<RunResult> run = backend.Run({.inputs = c.inputs});
    ASSERT_FALSE(run.has_value()) << c.message;
    EXPECT_EQ(run.error().code, ErrorCode::kIncompatible);
    EXPECT_THAT(run.error().message, HasSubstr(c.message));
  }
}

TEST(TorchBackendTest, NothingLeftAtTheCoarseSizeIsAnError) {
  TorchBackend backend;
  ASSERT_TRUE(
      backend.Load(NetworkRequest({.backbone_scale = 0.1})).has_value());
  const Result<RunResult> run = backend.Run(Images({1, 3, 8, 64}));
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message,
              HasSubstr("nothing is left of it at backbone scale 0.1"));
}

TEST(TorchBackendTest, MattingBaseTakesAnySize) {
  const RunResult run = MustRun({.type = MattingType::kBase}, {1, 3, 19, 33});
  EXPECT_EQ(FindTensor(run.outputs, "hid")->shape(), (Shape{1, 32, 19, 33}));
}

TEST(TorchBackendTest, MoreSamplesThanCellsMarkEveryCell) {
  const MattingConfig config = {.refine_sample_pixels = 1'000'000'000,
                                .refine_prevent_oversampling = false};
  const RunResult run = MustRun(config, {2, 3, 32, 40});
  EXPECT_THAT(FindTensor(run.outputs, "ref_sm")->As<float>(), Each(1.0F));
  // Then it is the full mode.
  const RunResult full =
      MustRun({.refine_mode = RefineMode::kFull}, {2, 3, 32, 40});
  for (const char* name : {"pha", "fgr"}) {
    EXPECT_LE(MaxDifference(*FindTensor(full.outputs, name),
                            *FindTensor(run.outputs, name)),
              2e-6F);
  }
}

TEST(TorchBackendTest, TheNumberOfSamplesIsPerImageAndExact) {
  for (const std::int64_t pixels : {0, 15, 16, 31, 80, 800}) {
    const RunResult run = MustRun(
        {.refine_sample_pixels = pixels, .refine_prevent_oversampling = false},
        {2, 3, 32, 40});
    const Tensor& cells = *FindTensor(run.outputs, "ref_sm");
    ASSERT_EQ(cells.shape(), (Shape{2, 1, 8, 10}));
    for (std::size_t image = 0; image < 2; ++image) {
      const auto values = cells.As<float>().subspan(image * 80, 80);
      EXPECT_EQ(std::ranges::count(values, 1.0F), pixels / 16);
      EXPECT_EQ(std::ranges::count(values, 0.0F), 80 - pixels / 16);
    }
  }
}

TEST(TorchBackendTest, WithoutACellTheResultIsTheCoarseOneResized) {
  const RunResult none = MustRun({.refine_sample_pixels = 0}, {1, 3, 32, 40});
  const RunResult high =
      MustRun({.refine_mode = RefineMode::kThresholding, .refine_threshold = 1},
              {1, 3, 32, 40});
  EXPECT_EQ(Sum(*FindTensor(none.outputs, "ref_sm")), 0);
  EXPECT_EQ(Sum(*FindTensor(high.outputs, "ref_sm")), 0);
  const auto pha = FindTensor(none.outputs, "pha")->As<float>();
  EXPECT_THAT(FindTensor(high.outputs, "pha")->As<float>(),
              ::testing::ElementsAreArray(pha));
  // The corner lies outside the centres of the coarse pixels, so it is the
  // coarse corner itself.
  EXPECT_EQ(pha[0], FindTensor(none.outputs, "pha_sm")->As<float>()[0]);
}

TEST(TorchBackendTest, ManyCellsAndBandsAreTakenInPieces) {
  // 24 × 32 cells in 6 pieces, and 6 bands.
  const Shape shape = {1, 3, 96, 128};
  const RunResult full = MustRun({.refine_mode = RefineMode::kFull}, shape);
  const RunResult cells = MustRun(
      {.refine_sample_pixels = 12'288, .refine_prevent_oversampling = false},
      shape);
  EXPECT_EQ(Sum(*FindTensor(cells.outputs, "ref_sm")), 24 * 32);
  EXPECT_LE(MaxDifference(*FindTensor(full.outputs, "pha"),
                          *FindTensor(cells.outputs, "pha")),
            2e-6F);
}

TEST(TorchBackendTest, ThreadsDoNotChangeABit) {
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 3}) {
    TorchBackend backend;
    LoadRequest request = NetworkRequest({.refine_sample_pixels = 20'000});
    request.threads = threads;
    request.reference_kernels = "native";
    ASSERT_TRUE(backend.Load(request).has_value());
    const Result<RunResult> run = backend.Run(Images({1, 3, 192, 256}));
    ASSERT_TRUE(run.has_value()) << run.error().message;
    results.push_back(*FindTensor(run->outputs, "pha"));
  }
  EXPECT_EQ(MaxDifference(results[0], results[1]), 0);
  EXPECT_EQ(MaxDifference(results[0], results[2]), 0);
}

TEST(TorchBackendTest, OtherPrecisionsConvertWeightsAndInputs) {
  const MattingConfig config = {.type = MattingType::kBase};
  const RunResult single = MustRun(config, {1, 3, 32, 48});
  for (const auto& [precision, dtype] :
       {std::pair{"float64", DType::kFloat64}, {"float16", DType::kFloat16}}) {
    TorchBackend backend;
    LoadRequest request = NetworkRequest(config);
    request.precision = precision;
    ASSERT_TRUE(backend.Load(request).has_value());
    const Result<RunResult> run = backend.Run(Images({1, 3, 32, 48}));
    ASSERT_TRUE(run.has_value()) << precision << ": " << run.error().message;
    const Tensor& pha = *FindTensor(run->outputs, "pha");
    ASSERT_EQ(pha.dtype(), dtype);
    double largest = 0;
    for (std::size_t i = 0; i < 32UL * 48; ++i) {
      const double value =
          dtype == DType::kFloat64
              ? pha.As<double>()[i]
              : static_cast<double>(FloatFromHalf(pha.As<std::uint16_t>()[i]));
      largest = std::max(
          largest,
          std::abs(value -
                   static_cast<double>(
                       FindTensor(single.outputs, "pha")->As<float>()[i])));
    }
    EXPECT_LT(largest, dtype == DType::kFloat64 ? 1e-5 : 3e-2) << precision;
    EXPECT_GT(largest, 0) << precision;
  }
}

TEST(TorchBackendTest, TheRefinerRunsInFloat16) {
  for (const RefineMode mode : {RefineMode::kSampling, RefineMode::kFull}) {
    TorchBackend backend;
    LoadRequest request = NetworkRequest({.refine_mode = mode});
    request.precision = "float16";
    ASSERT_TRUE(backend.Load(request).has_value());
    const Result<RunResult> run = backend.Run(Images({1, 3, 32, 48}));
    ASSERT_TRUE(run.has_value()) << run.error().message;
    for (const NamedTensor& output : run->outputs) {
      ASSERT_EQ(output.tensor.dtype(), DType::kFloat16);
      for (const std::uint16_t bits : output.tensor.As<std::uint16_t>()) {
        const float value = FloatFromHalf(bits);
        ASSERT_TRUE(value >= 0 && value <= 1) << output.name << ' ' << value;
      }
    }
  }
}

TEST(TorchBackendTest, OnlyTheOutputsAskedForAreReturned) {
  TorchBackend backend;
  ASSERT_TRUE(backend.Load(NetworkRequest({})).has_value());
  RunRequest request = Images({1, 3, 32, 32});
  request.output_names = {"err_sm", "pha"};
  const Result<RunResult> run = backend.Run(request);
  ASSERT_TRUE(run.has_value()) << run.error().message;
  ASSERT_EQ(run->outputs.size(), 2U);
  EXPECT_EQ(run->outputs[0].name, "err_sm");
  EXPECT_EQ(run->outputs[1].tensor.shape(), (Shape{1, 1, 32, 32}));

  request.output_names = {"alpha"};
  const Result<RunResult> unknown = backend.Run(request);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(unknown.error().message,
            "the reference returns no output 'alpha'; it returns pha, fgr, "
            "pha_sm, fgr_sm, err_sm, ref_sm");
}

TEST(TorchBackendTest, InputsAndWeightsAreLeftAlone) {
  TorchBackend backend;
  const LoadRequest load = NetworkRequest({});
  const LoadRequest untouched = NetworkRequest({});
  ASSERT_TRUE(backend.Load(load).has_value());
  const RunRequest request = Images({1, 3, 64, 64});
  ASSERT_TRUE(backend.Run(request).has_value());
  ASSERT_TRUE(backend.Run(request).has_value());
  EXPECT_TRUE(std::ranges::equal(request.inputs[0].tensor.bytes(),
                                 Image("src", {1, 3, 64, 64}).bytes()));
  EXPECT_EQ(WeightsDigest(load.weights), WeightsDigest(untouched.weights));
}

}  // namespace
}  // namespace parity
