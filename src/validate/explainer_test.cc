#include "validate/explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "diagnose/testing/fake_sides.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/case_runner.h"
#include "validate/contract.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

FakeNetwork Squares(const std::string& kind) {
  FakeNetwork network;
  network.steps = {
      Map("/Mul", kind + "Mul", "x", "y", [](double x) { return x * x + 1; })};
  network.outputs = {"y"};
  return network;
}

// x > 0.5 keeps x ten times as large.
FakeNetwork Selection(const std::string& greater, const std::string& where) {
  FakeNetwork network;
  network.constants["threshold"] = Float32({0.5});
  network.steps = {
      Map("/Add", "Add", "x", "score", [](double x) { return x + 0.25; }),
      Combine("/Greater", greater, {"score", "threshold"}, "kept",
              [](double score, double threshold) {
                return score > threshold ? 1.0 : 0.0;
              }),
      Combine("/Where", where, {"x", "kept"}, "y",
              [](double x, double kept) { return kept != 0 ? 10 * x : x; })};
  network.steps[1].dtype = DType::kBool;
  network.outputs = {"y"};
  return network;
}

NamedTensors X(Shape shape = {40}) {
  Numbers numbers = Scattered(40);
  numbers[7] = 0.25;
  return {{.name = "x", .tensor = Float32(numbers, std::move(shape))}};
}

FakeFault Shift(const std::string& value, double by) {
  return [=](const LoadRequest& load, const FakeStep& step, Numbers& numbers) {
    if (step.output == value && load.precision.empty()) numbers[7] += by;
  };
}

class ExplainerTest : public ::testing::Test {
 protected:
  ExplainerTest() {
    sides_.network = Squares("aten::");
    sides_.graph = Squares("");
    options_.tolerance.atol = 1e-3;
  }

  // As the validation does it, with a case for each of `faults`: of the
  // candidate while it is validated and explained.
  ValidationResult Run(const std::vector<FakeFault>& faults,
                       const NamedTensors& inputs = X(),
                       std::int64_t most_bytes = Explainer::kMostKeptBytes) {
    const Model model = sides_.MakeModel(inputs);
    Explainer explainer(options_, model, sides_.Options(), most_bytes);
    ValidationResult result;
    for (std::size_t i = 0; i < faults.size(); ++i) {
      sides_.candidate_fault = faults[i];
      const RunRequest request{.inputs = inputs};
      CaseOutcome outcome = Compare(std::format("case {}", i), request);
      explainer.Add(outcome, request);
      result.cases.push_back(std::move(outcome.result));
    }
    explainer.Explain(result);
    return result;
  }

  FakeSides sides_;
  ValidationOptions options_;

 private:
  // Never asked: the runs are given.
  class NoBackend : public Backend {
    [[nodiscard]] std::string name() const override { return "none"; }
    [[nodiscard]] Result<LoadResult> Load(const LoadRequest&) override {
      return LoadResult{};
    }
    [[nodiscard]] Result<RunResult> Run(const RunRequest&) override {
      return RunResult{};
    }
  };

  CaseOutcome Compare(const std::string& name, const RunRequest& request) {
    NoBackend none;
    const Contract contract;
    const CaseContext context = {.reference = none,
                                 .candidate = none,
                                 .contract = contract,
                                 .tolerance = options_.tolerance,
                                 .output_atol = options_.output_atol,
                                 .output_rtol = options_.output_rtol,
                                 .floating_dtype = {},
                                 .progress = [](std::string_view) {}};
    return *CompareRuns(context, name, request,
                        {.expected = *sides_.RunReference(request),
                         .actual = *sides_.RunCandidate(request)});
  }
};

TEST_F(ExplainerTest, EqualSidesNeedNoExplanation) {
  const ValidationResult result = Run({{}});
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(result.cause(), std::nullopt);
  EXPECT_EQ(sides_.runs, 0);
  EXPECT_EQ(result.cases[0].outputs[0].budget->verdict, NoiseVerdict::kWithin);
}

TEST_F(ExplainerTest, PassingRoundingIsANoteThatCostsNothing) {
  const ValidationResult result = Run({Shift("y", 2e-7)});
  EXPECT_EQ(result.verdict(), Verdict::kPassed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].cause, Cause::kRounding);
  EXPECT_FALSE(result.findings[0].fails);
  EXPECT_EQ(sides_.runs, 0);
}

TEST_F(ExplainerTest, APassingCaseFarAboveNoiseGetsAFindingThatDoesNotFail) {
  options_.tolerance.atol = 10;
  const ValidationResult result = Run({Shift("y", 1)});
  EXPECT_EQ(result.verdict(), Verdict::kPassed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].cause, Cause::kRuntime);
  EXPECT_FALSE(result.findings[0].fails);
  EXPECT_EQ(result.findings[0].node, "/Mul");
  EXPECT_THAT(result.findings[0].message,
              StartsWith("passes the threshold, but "));
}

TEST_F(ExplainerTest, WhatCannotBeMeasuredIsNotCalledAboveNoise) {
  options_.tolerance.atol = 10;
  sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
    if (load.kind != ModelKind::kOnnx || !load.provider.empty())
      return std::nullopt;
    return Error{.code = ErrorCode::kUnsupported, .message = "no such op"};
  };
  const ValidationResult result = Run({Shift("y", 1)});
  EXPECT_EQ(result.verdict(), Verdict::kPassed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings[0].message,
              StartsWith("passes the threshold; whether that is float noise "
                         "could not be measured"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("no such op")));
}

TEST_F(ExplainerTest, FailingByRoundingAloneIsSaid) {
  options_.tolerance.atol = 1e-8;
  sides_.reference_fault = Shift("y", -2e-7);
  const ValidationResult result = Run({Shift("y", 2e-7)});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].cause, Cause::kRounding);
  EXPECT_THAT(result.findings[0].message,
              StartsWith("fails the threshold by rounding alone: "));
}

TEST_F(ExplainerTest, ByTheNoiseCriterionRoundingPassesAndFaultsFail) {
  options_.criterion = Criterion::kNoise;
  options_.tolerance.atol = 1e-8;
  EXPECT_EQ(Run({Shift("y", 2e-7)}).verdict(), Verdict::kPassed);
  options_.tolerance.atol = 10;
  const ValidationResult result = Run({Shift("y", 1e-2)});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_TRUE(result.findings[0].fails);
  EXPECT_EQ(result.findings[0].cause, Cause::kRuntime);
}

TEST_F(ExplainerTest, OneProvenFaultIsEnough) {
  const ValidationResult result =
      Run({Shift("y", 1), Shift("y", 1), Shift("y", 1)});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].case_name, "case 0");
  for (const CaseResult& entry : result.cases)
    EXPECT_TRUE(entry.outputs[0].budget->runtime.has_value());
}

TEST_F(ExplainerTest, TiesExcuseTheirOutputs) {
  sides_.network = Selection("aten::gt", "aten::where");
  sides_.graph = Selection("Greater", "Where");
  const ValidationResult result = Run({Shift("score", 6e-8)});
  ASSERT_GT(result.cases[0].outputs[0].comparison->mismatch_count, 0);
  EXPECT_TRUE(result.cases[0].outputs[0].excused_as_tie);
  EXPECT_EQ(result.verdict(), Verdict::kPassed);
  EXPECT_EQ(result.cause(), Cause::kTie);
}

TEST_F(ExplainerTest, StrictTiesExcuseNothing) {
  options_.strict_ties = true;
  sides_.network = Selection("aten::gt", "aten::where");
  sides_.graph = Selection("Greater", "Where");
  const ValidationResult result = Run({Shift("score", 6e-8)});
  EXPECT_FALSE(result.cases[0].outputs[0].excused_as_tie);
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  EXPECT_EQ(result.cause(), Cause::kTie);
}

TEST_F(ExplainerTest, NothingIsAskedWhenNobodyWantsToKnow) {
  options_.explain = Explain::kNever;
  const ValidationResult result = Run({Shift("y", 1)});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(sides_.runs, 0);
  const RunRequest request{.inputs = X()};
  const Model model = sides_.MakeModel(request.inputs);
  Explainer explainer(options_, model, sides_.Options());
  const Finding finding = explainer.ExplainRun(
      {.code = ErrorCode::kBackend, .message = "refused"}, "a", request, false);
  EXPECT_EQ(finding.cause, Cause::kRuntime);
  EXPECT_EQ(finding.message, "refused");
  EXPECT_TRUE(sides_.made.empty());
}

TEST_F(ExplainerTest, TheReferencesWeightsAreReadOnlyForAnExplanation) {
  EXPECT_EQ(Run({{}}, X({2, 20})).verdict(), Verdict::kPassed);
  EXPECT_EQ(sides_.reference_asked, 0);
  EXPECT_EQ(Run({Shift("y", 1)}).verdict(), Verdict::kFailed);
  EXPECT_EQ(sides_.reference_asked, 1);
}

TEST_F(ExplainerTest, EveryCaseGetsItsBudgetWhenAllAreAskedFor) {
  options_.explain = Explain::kAlways;
  const ValidationResult result = Run({{}, Shift("y", 2e-7)});
  for (const CaseResult& entry : result.cases)
    EXPECT_TRUE(entry.outputs[0].budget->exported.has_value());
}

TEST_F(ExplainerTest, CasesBeyondTheMemoryAreCountedAndNotCalledRounding) {
  // The first is always kept.
  const ValidationResult failed =
      Run({Shift("y", 1), Shift("y", 1), Shift("y", 1)}, X(), 1);
  ASSERT_EQ(failed.findings.size(), 1U);
  EXPECT_TRUE(failed.findings[0].fails);
  EXPECT_THAT(failed.notes,
              ElementsAre(HasSubstr("2 more cases differ and were not "
                                    "explained")));
}

TEST_F(ExplainerTest, ABatchThatAgreesMakesRoomForACaseThatDiffers) {
  const ValidationResult result = Run({{}, Shift("y", 1)}, X({2, 20}), 1);
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings[0].case_name, "case 1");
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(ExplainerTest, ALaterCaseThatFailsOutranksAnEarlierThatPasses) {
  options_.tolerance.atol = 0.5;
  const ValidationResult result = Run({Shift("y", 0.1), Shift("y", 1)});
  ASSERT_EQ(result.findings.size(), 2U);
  EXPECT_TRUE(result.findings[0].fails);
  EXPECT_EQ(result.findings[0].case_name, "case 1");
  EXPECT_FALSE(result.findings[1].fails);
}

TEST_F(ExplainerTest, AGraphThatCannotBeComputedForOtherShapesIsTheExports) {
  const RunRequest request{.inputs = X()};
  const Model model = sides_.MakeModel(request.inputs);
  sides_.run_error = [](const LoadRequest& /*load*/,
                        const RunRequest& /*request*/) {
    return Error{.code = ErrorCode::kBackend, .message = "40 is not 20"};
  };
  Explainer explainer(options_, model, sides_.Options());
  const Finding finding = explainer.ExplainRun(
      {.code = ErrorCode::kBackend, .message = "Reshape"}, "a", request, false);
  EXPECT_EQ(finding.cause, Cause::kExport);
  EXPECT_TRUE(finding.fails);
  EXPECT_THAT(finding.message, HasSubstr("baked in while tracing (Reshape)"));
  EXPECT_EQ(finding.case_name, "a");
}

TEST_F(ExplainerTest, ARuntimeThatRefusesWhatFloat64ComputesIsTheRuntimes) {
  const RunRequest request{.inputs = X()};
  const Model model = sides_.MakeModel(request.inputs);
  sides_.run_error = [](const LoadRequest& load,
                        const RunRequest& /*request*/) -> std::optional<Error> {
    if (load.provider.empty()) return std::nullopt;
    return Error{.code = ErrorCode::kBackend, .message = "no kernel"};
  };
  Explainer explainer(options_, model, sides_.Options());
  const Error error{.code = ErrorCode::kBackend, .message = "no kernel"};
  const Finding alone = explainer.ExplainRun(error, "a", request, false);
  EXPECT_EQ(alone.cause, Cause::kRuntime);
  EXPECT_FALSE(alone.fails);  // it may refuse everything
  EXPECT_TRUE(explainer.ExplainRun(error, "a", request, true).fails);
  EXPECT_FALSE(
      explainer
          .ExplainRun({.code = ErrorCode::kWorkerDied, .message = "killed"},
                      "a", request, true)
          .fails);
}

}  // namespace
}  // namespace parity
