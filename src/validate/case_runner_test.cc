#include "validate/case_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Answers every run with the same outputs.
class FakeBackend : public Backend {
 public:
  FakeBackend(std::string name, NamedTensors outputs) : name_(std::move(name)) {
    result_.outputs = std::move(outputs);
  }
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Result<LoadResult> Load(
      const LoadRequest& /*request*/) override {
    return LoadResult{};
  }
  [[nodiscard]] Result<RunResult> Run(const RunRequest& /*request*/) override {
    return result_;
  }
  RunResult& result() { return result_; }

 private:
  std::string name_;
  RunResult result_;
};

NamedTensor Row(const std::string& name, const std::vector<float>& values) {
  return {.name = name,
          .tensor = *Tensor::From<float>(
              DType::kFloat32, {static_cast<std::int64_t>(values.size())},
              std::span(values))};
}

const std::map<std::string, double> kNoLimits;

CaseContext ContextOf(Backend& reference, Backend& candidate,
                      const Contract& contract,
                      const std::map<std::string, double>& atol = kNoLimits) {
  return {.reference = reference,
          .candidate = candidate,
          .contract = contract,
          .tolerance = {},
          .output_atol = atol,
          .output_rtol = kNoLimits,
          .floating_dtype = {},
          .progress = [](std::string_view) {}};
}

CaseResult Compare(NamedTensors expected, NamedTensors actual,
                   const Contract& contract = {}) {
  FakeBackend reference("reference", std::move(expected));
  FakeBackend candidate("candidate", std::move(actual));
  const CaseContext context = ContextOf(reference, candidate, contract);
  return RunCase(context, "case", RunRequest{})->result;
}

TEST(CaseRunnerTest, NaNOnOneSideFails) {
  EXPECT_FALSE(Compare({Row("y", {1, 2})}, {Row("y", {1, kNan})}).passed());
  EXPECT_FALSE(Compare({Row("y", {1, kNan})}, {Row("y", {1, 2})}).passed());
  EXPECT_FALSE(Compare({Row("y", {1, kInf})}, {Row("y", {1, kNan})}).passed());
}

TEST(CaseRunnerTest, NaNAndInfinityAtTheSamePlacesAreEqualAndCounted) {
  const CaseResult result = Compare({Row("y", {kNan, kInf, -kInf, 1})},
                                    {Row("y", {kNan, kInf, -kInf, 1})});
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.outputs[0].comparison->expected_nonfinite.total(), 3);
  EXPECT_FALSE(Compare({Row("y", {kInf})}, {Row("y", {-kInf})}).passed());
  EXPECT_FALSE(Compare({Row("y", {kInf})}, {Row("y", {3})}).passed());
}

TEST(CaseRunnerTest, MissingOutputsFailWithoutLosingTheOthers) {
  const CaseResult result =
      Compare({Row("a", {1}), Row("b", {1})}, {Row("a", {1})});
  EXPECT_FALSE(result.passed());
  EXPECT_THAT(
      result.contract_failures,
      ElementsAre("output b of the reference is missing from the ONNX file"));
  ASSERT_EQ(result.outputs.size(), 1U);
  EXPECT_TRUE(result.outputs[0].passed());
}

TEST(CaseRunnerTest, WrongShapesAreNeverSubtracted) {
  const CaseResult result = Compare({Row("y", {1, 1})}, {Row("y", {1})});
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.outputs[0].comparison.has_value());
  EXPECT_THAT(result.outputs[0].contract_failures,
              ElementsAre("shape is 1, the reference's is 2"));
}

TEST(CaseRunnerTest, ADifferenceOfExactlyTheLimitFails) {
  const auto run = [](double atol) {
    FakeBackend reference("reference", {Row("y", {0})});
    FakeBackend candidate("candidate", {Row("y", {0.5F})});
    const std::map<std::string, double> limits = {{"y", atol}};
    const Contract contract;
    const CaseContext context =
        ContextOf(reference, candidate, contract, limits);
    return RunCase(context, "case", RunRequest{})->result.passed();
  };
  EXPECT_FALSE(run(0.5));
  EXPECT_TRUE(run(0.50001));
}

TEST(CaseRunnerTest, DeclaredShapesOfOutputsAreChecked) {
  Contract contract;
  ValueInfo output;
  output.name = "y";
  output.dtype = DType::kInt64;
  output.shape = {{.value = 3, .name = ""}};
  contract.outputs = {output};
  const CaseResult result =
      Compare({Row("y", {1, 2})}, {Row("y", {1, 2})}, contract);
  EXPECT_THAT(result.contract_failures,
              ElementsAre("y is float32, declared is int64",
                          "y has size 2 on axis 0, declared is 3"));
}

TEST(CaseRunnerTest, ACandidateThatDoesNotRunIsPartOfTheOutcome) {
  const Error error{.code = ErrorCode::kBackend, .message = "Reshape"};
  const RunResult expected{.run_ms = 5, .peak_rss_bytes = 7};
  const auto outcome = FailedCase("case", expected, error);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->result.passed());
  EXPECT_EQ(outcome->result.error->message, "Reshape");
  EXPECT_EQ(outcome->candidate_error->message, "Reshape");
  EXPECT_EQ(outcome->result.reference_run_ms, 5);
  EXPECT_EQ(outcome->reference_rss_bytes, 7);
  EXPECT_THAT(outcome->result.outputs, IsEmpty());
}

TEST(CaseRunnerTest, AnInterruptionIsNoResult) {
  EXPECT_EQ(FailedCase("case", {},
                       {.code = ErrorCode::kInterrupted, .message = "stop"})
                .error()
                .code,
            ErrorCode::kInterrupted);
}

// Whoever explains needs what was compared, whatever the reference calls it.
TEST(CaseRunnerTest, TheOutcomeKeepsThePairsThatWereCompared) {
  FakeBackend reference("reference", {Row("b", {2}), Row("a", {1})});
  FakeBackend candidate("candidate", {Row("a", {1}), Row("b", {2})});
  reference.result().changed_inputs = {"x"};
  const Contract contract;
  const CaseContext context = ContextOf(reference, candidate, contract);
  const auto outcome = RunCase(context, "case", RunRequest{});
  ASSERT_EQ(outcome->expected.size(), 2U);
  ASSERT_EQ(outcome->actual.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(outcome->actual[i].name, outcome->result.outputs[i].name);
    EXPECT_EQ(outcome->expected[i].name, outcome->actual[i].name);
    EXPECT_EQ(outcome->expected[i].tensor.As<float>()[0],
              outcome->actual[i].tensor.As<float>()[0]);
  }
  EXPECT_THAT(outcome->changed_inputs, ElementsAre("x"));
}

TEST(CaseRunnerTest, ChangedInputsAreNoted) {
  FakeBackend reference("reference", {Row("y", {1})});
  FakeBackend candidate("candidate", {Row("y", {1})});
  reference.result().changed_inputs = {"x"};
  const Contract contract;
  const CaseContext context = ContextOf(reference, candidate, contract);
  EXPECT_THAT(
      RunCase(context, "case", RunRequest{})->notes,
      ElementsAre(
          "the reference changes its input x while it runs (case case)"));
}

}  // namespace
}  // namespace parity
