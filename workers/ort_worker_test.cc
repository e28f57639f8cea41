// The worker of ONNX Runtime as the tool uses it: in its own process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <format>
#include <string>

#include "backend/backend.h"
#include "formats/safetensors/safetensors_reader.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "worker/worker_client.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string CasePath(const std::string& file) {
  return std::format("{}/ort/encoder-decoder-dynamic/{}", PARITY_TEST_DATA,
                     file);
}

NamedTensors Inputs() {
  return ReadSafetensorsFile(CasePath("inputs.safetensors"))->tensors;
}

WorkerOptions Options() {
  return {.side = "candidate",
          .program = PARITY_ORT_WORKER,
          .timeout = std::chrono::seconds(60)};
}

TEST(OrtWorkerTest, AModelRunsInTheWorker) {
  WorkerClient client(Options());
  const auto loaded = client.Load({.path = CasePath("model.onnx")});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_THAT(loaded->version, ::testing::StartsWith("ONNX Runtime 1."));
  EXPECT_THAT(loaded->input_names, ElementsAre("x"));
  for (int i = 0; i < 3; ++i) {
    const auto run = client.Run({.inputs = Inputs()});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    ASSERT_EQ(run->outputs.size(), 1U);
    EXPECT_EQ(run->outputs[0].tensor.dtype(), DType::kFloat32);
    EXPECT_THAT(run->changed_inputs, IsEmpty());
    EXPECT_GT(run->peak_rss_bytes, 1'000'000);
  }
}

TEST(OrtWorkerTest, ASecondModelReplacesTheFirst) {
  WorkerClient client(Options());
  for (const char* const level : {"all", "disabled"}) {
    ASSERT_TRUE(
        client.Load({.path = CasePath("model.onnx"), .optimization = level})
            .has_value());
    EXPECT_TRUE(client.Run({.inputs = Inputs()}).has_value());
  }
}

TEST(OrtWorkerTest, ErrorsHaveNoneOfTheStartUpNoise) {
  WorkerClient client(Options());
  const auto loaded = client.Load({.path = "/nowhere/model.onnx"});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(loaded.error().message,
              AllOf(HasSubstr("/nowhere/model.onnx"),
                    Not(HasSubstr("Schema error")), Not(HasSubstr("\n"))));
}

TEST(OrtWorkerTest, TooLittleMemoryIsSaid) {
  WorkerOptions options = Options();
  options.memory_limit_bytes = 150'000'000;
  WorkerClient client(options);
  const auto loaded = client.Load({.path = CasePath("model.onnx")});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  const auto run =
      client.Run({.inputs = {{"x", *Tensor::Allocate(DType::kFloat32,
                                                     {1, 3, 2048, 2048})}}});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kWorkerDied);
  EXPECT_THAT(run.error().message,
              HasSubstr("the candidate worker (ONNX Runtime) ran out of memory "
                        "(limit 150 MB, --memory-limit) while running"));
}

TEST(OrtWorkerTest, AWorkerStartedByHandSaysSo) {
  WorkerOptions options = Options();
  options.program = "/bin/sh";
  options.arguments = {"-c", std::format("exec {} 3>&-", PARITY_ORT_WORKER)};
  WorkerClient client(options);
  const auto loaded = client.Load({.path = CasePath("model.onnx")});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_THAT(loaded.error().message,
              AllOf(HasSubstr("exited with code 2 while starting"),
                    HasSubstr("started by onnx-parity, not by hand")));
}

}  // namespace
}  // namespace parity
