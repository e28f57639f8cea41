// The reference network against outputs of the original PyTorch model:
// tests/data/goldens, computed in float64 and rounded once to float32.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/torch_backend.h"
#include "formats/safetensors/safetensors_reader.h"
#include "networks/matting_config.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

std::vector<std::string> GoldenNames() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(PARITY_TEST_DATA "/goldens"))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::string TestName(std::string name) {
  std::ranges::replace_if(
      name,
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; },
      '_');
  return name;
}

// Keys a golden's metadata has beside those of the configuration.
std::string Lookup(const std::map<std::string, std::string>& metadata,
                   const std::string& key) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string() : found->second;
}

// Applies "decoder.conv4.weight[4]*=8": multiplies one output channel.
void ChangeWeights(const std::string& change, NamedTensors& weights) {
  const std::size_t bracket = change.find('[');
  const std::size_t close = change.find("]*=", bracket);
  ASSERT_NE(close, std::string::npos) << change;
  const std::size_t channel =
      std::stoul(change.substr(bracket + 1, close - bracket - 1));
  const float factor = std::stof(change.substr(close + 3));
  for (NamedTensor& entry : weights) {
    if (entry.name != change.substr(0, bracket)) continue;
    const std::size_t size = static_cast<std::size_t>(
        entry.tensor.element_count() / entry.tensor.shape()[0]);
    for (float& value :
         entry.tensor.MutableAs<float>().subspan(channel * size, size))
      value *= factor;
    return;
  }
  FAIL() << "no weight for " << change;
}

double ValueAt(const Tensor& tensor, std::size_t i) {
  return tensor.dtype() == DType::kFloat64
             ? tensor.As<double>()[i]
             : static_cast<double>(tensor.As<float>()[i]);
}

double MaxDifference(const Tensor& expected, const Tensor& actual) {
  double largest = 0;
  for (std::size_t i = 0;
       i < static_cast<std::size_t>(expected.element_count()); ++i) {
    const double difference =
        std::abs(ValueAt(actual, i) - ValueAt(expected, i));
    // A NaN must not pass.
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

double MaxMagnitude(const Tensor& tensor) {
  double largest = 0;
  for (const float value : tensor.As<float>())
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest;
}

class ReferenceGoldenTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<SafetensorsFile> file = ReadSafetensorsFile(
        PARITY_TEST_DATA "/goldens/" + GetParam() + ".safetensors");
    ASSERT_TRUE(file.has_value()) << file.error().message;
    golden_ = *std::move(file);
    const Result<MattingConfig> config = ConfigFromAttributes(golden_.metadata);
    ASSERT_TRUE(config.has_value()) << config.error().message;
    config_ = *config;
    ASSERT_EQ(
        std::string(Name(config_.type)) + "-" +
            std::string(Name(config_.backbone)),
        GetParam().substr(0, GetParam().find('-', GetParam().find('-') + 1)));
  }

  // Runs the golden's inputs on its weights.
  void Run(const std::string& precision, const std::string& kernels,
           RunResult& result) {
    Result<NamedTensors> weights = SyntheticWeights(
        config_, std::stoull(Lookup(golden_.metadata, "seed")));
    ASSERT_TRUE(weights.has_value()) << weights.error().message;
    const std::string change = Lookup(golden_.metadata, "weights");
    if (change != "synthetic") ChangeWeights(change, *weights);
    TorchBackend backend;
    LoadRequest request;
    request.kind = ModelKind::kNetwork;
    request.attributes = ToAttributes(config_);
    request.weights = *weights;
    request.precision = precision;
    request.reference_kernels = kernels;
    const Result<LoadResult> loaded = backend.Load(request);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    Result<RunResult> run =
        backend.Run({.inputs = {{"src", *FindTensor(golden_.tensors, "src")},
                                {"bgr", *FindTensor(golden_.tensors, "bgr")}},
                     .output_names = {}});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    result = *std::move(run);
    std::vector<std::string> names;
    for (const NamedTensor& output : result.outputs)
      names.push_back(output.name);
    ASSERT_EQ(names, OutputNames(config_));
  }

  // Every output within `limit` of its expected tensor; the selection exactly.
  void Compare(const RunResult& result, DType dtype,
               double (*limit)(const Tensor& expected)) {
    for (const NamedTensor& output : result.outputs) {
      SCOPED_TRACE(output.name);
      const Tensor* expected = FindTensor(golden_.tensors, output.name);
      ASSERT_NE(expected, nullptr);
      ASSERT_EQ(output.tensor.shape(), expected->shape());
      ASSERT_EQ(output.tensor.dtype(), dtype);
      EXPECT_LE(MaxDifference(*expected, output.tensor),
                output.name == "ref_sm" ? 0 : limit(*expected));
    }
  }

  SafetensorsFile golden_;
  MattingConfig config_;
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
