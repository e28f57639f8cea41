// Exported graphs, evaluated node by node in float64, against outputs of the
// original PyTorch model.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <format>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/torch_backend.h"
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

class OracleGoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Golden> golden = LoadGolden(GetParam());
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = *std::move(golden);
  }

  void Run(const MattingExportOptions& options, bool trace, RunResult& result) {
    const Result<MattingExport> built =
        BuildBackgroundMatting(golden_.config, golden_.weights, options);
    ASSERT_TRUE(built.has_value()) << built.error().message;
    const std::filesystem::path path =
        std::filesystem::path(::testing::TempDir()) /
        std::format("oracle-{}.onnx", getpid());
    const Status written = WriteOnnxModel(built->model, path);
    ASSERT_TRUE(written.has_value()) << written.error().message;
    TorchBackend backend;
    LoadRequest request;
    request.kind = ModelKind::kOnnx;
    request.path = path.string();
    request.precision = "float64";
    const Result<LoadResult> loaded = backend.Load(request);
    std::filesystem::remove(path);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ(loaded->input_names, (std::vector<std::string>{"src", "bgr"}));
    EXPECT_EQ(loaded->output_names, OutputNames(golden_.config));
    Result<RunResult> run =
        backend.Run({.inputs = golden_.inputs, .trace = trace});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    result = *std::move(run);
  }

  // Relative to an output's largest value; the selection exactly.
  void Compare(const RunResult& result, double limit) {
    ASSERT_EQ(result.outputs.size(), golden_.outputs.size());
    for (const NamedTensor& output : result.outputs) {
      SCOPED_TRACE(output.name);
      const Tensor* expected = FindTensor(golden_.outputs, output.name);
      ASSERT_NE(expected, nullptr);
      ASSERT_EQ(output.tensor.shape(), expected->shape());
      ASSERT_EQ(output.tensor.dtype(), DType::kFloat64);
      EXPECT_LE(MaxDifference(*expected, output.tensor),
                output.name == "ref_sm" ? 0 : limit * MaxMagnitude(*expected));
    }
  }

  Golden golden_;
};

// Networks of hundreds of megabytes take many seconds in float64; their graph
// after the encoder is the same.
std::vector<std::string> SmallGoldenNames() {
  std::vector<std::string> names = GoldenNames();
  std::erase_if(names, [](const std::string& name) {
    return !name.contains(Name(Backbone::kMobileNetV2));
  });
  return names;
}

TEST_P(OracleGoldenTest, TheGraphIsWithinTheGoldensOwnRounding) {
  for (const MattingExportOptions& options :
       {MattingExportOptions{.crop = CropMethod::kUnfold,
                             .replace = ReplaceMethod::kScatterElement,
                             .opset_version = 11},
        MattingExportOptions{.crop = CropMethod::kRoiAlign,
                             .replace = ReplaceMethod::kScatterNd,
                             .opset_version = 16},
        MattingExportOptions{.crop = CropMethod::kGather,
                             .replace = ReplaceMethod::kScatterNd,
                             .opset_version = 20}}) {
    SCOPED_TRACE(std::format("{} {} opset {}", Name(options.crop),
                             Name(options.replace), options.opset_version));
    MattingExportOptions unfolded = options;
    unfolded.constant_folding = false;
    RunResult result;
    ASSERT_NO_FATAL_FAILURE(Run(unfolded, /*trace=*/false, result));
    Compare(result, 1e-6);
    // All of them give the same graph.
    if (golden_.config.type == MattingType::kBase) break;
  }
}

// Folded weights are rounded to float32 once more.
TEST_P(OracleGoldenTest, SoIsTheFoldedGraphUpToTheRoundingOfItsWeights) {
  RunResult result;
  ASSERT_NO_FATAL_FAILURE(Run({}, /*trace=*/true, result));
  Compare(result, 1e-5);
  EXPECT_GT(result.trace.size(), 100U);
}

INSTANTIATE_TEST_SUITE_P(Goldens, OracleGoldenTest,
                         ::testing::ValuesIn(SmallGoldenNames()),
                         [](const auto& golden) {
                           return TestName(golden.param);
                         });

}  // namespace
}  // namespace parity
