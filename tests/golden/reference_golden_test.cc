// The reference network against outputs of the original PyTorch model:
// tests/data/goldens, computed in float64 and rounded once to float32.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/torch_backend.h"
#include "golden.h"
#include "networks/matting_config.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

class ReferenceGoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<Golden> golden = LoadGolden(GetParam());
    ASSERT_TRUE(golden.has_value()) << golden.error().message;
    golden_ = *std::move(golden);
  }

  // Runs the golden's inputs on its weights.
  void Run(const std::string& precision, const std::string& kernels,
           RunResult& result) {
    TorchBackend backend;
    LoadRequest request;
    request.kind = ModelKind::kNetwork;
    request.attributes = ToAttributes(golden_.config);
    request.weights = golden_.weights;
    request.precision = precision;
    request.reference_kernels = kernels;
    const Result<LoadResult> loaded = backend.Load(request);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    Result<RunResult> run =
        backend.Run({.inputs = golden_.inputs, .output_names = {}});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    result = *std::move(run);
    std::vector<std::string> names;
    for (const NamedTensor& output : result.outputs)
      names.push_back(output.name);
    ASSERT_EQ(names, OutputNames(golden_.config));
  }

  // Every output within `limit` of its expected tensor; the selection exactly.
  void Compare(const RunResult& result, DType dtype,
               double (*limit)(const Tensor& expected)) {
    for (const NamedTensor& output : result.outputs) {
      SCOPED_TRACE(output.name);
      const Tensor* expected = FindTensor(golden_.outputs, output.name);
      ASSERT_NE(expected, nullptr);
      ASSERT_EQ(output.tensor.shape(), expected->shape());
      ASSERT_EQ(output.tensor.dtype(), dtype);
      EXPECT_LE(MaxDifference(*expected, output.tensor),
                output.name == "ref_sm" ? 0 : limit(*expected));
    }
  }

  Golden golden_;
};

TEST_P(ReferenceGoldenTest, Float32IsWithinRounding) {
  for (const char* kernels : {"native", "auto"}) {
    RunResult result;
    ASSERT_NO_FATAL_FAILURE(Run("float32", kernels, result));
    Compare(result, DType::kFloat32, [](const Tensor&) { return 1e-5; });
  }
}

TEST_P(ReferenceGoldenTest, Float64IsWithinTheGoldensOwnRounding) {
  RunResult result;
  ASSERT_NO_FATAL_FAILURE(Run("float64", "auto", result));
  Compare(result, DType::kFloat64,
          [](const Tensor& expected) { return 1e-6 * MaxMagnitude(expected); });
}

INSTANTIATE_TEST_SUITE_P(Goldens, ReferenceGoldenTest,
                         ::testing::ValuesIn(GoldenNames()),
                         [](const auto& golden) {
                           return TestName(golden.param);
                         });

}  // namespace
}  // namespace parity
