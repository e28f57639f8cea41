#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "backend/backend.h"
#include "diagnose/diagnosis.h"
#include "diagnose/rules.h"
#include "diagnose/testing/fake_case.h"
#include "diagnose/testing/fake_sides.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

// score = x + 0.25; kept = score > threshold; y = kept ? 10 * x : x; z = x + 1
FakeNetwork Refinement(const std::string& greater, const std::string& where) {
  FakeNetwork network;
  network.constants["threshold"] = Float32({0.5});
  network.steps = {
      Map("/Add", "Add", "x", "score", [](double x) { return x + 0.25; }),
      Combine("/Greater", greater, {"score", "threshold"}, "kept",
              [](double score, double threshold) {
                return score > threshold ? 1.0 : 0.0;
              }),
      Combine("/Where", where, {"x", "kept"}, "y",
              [](double x, double kept) { return kept != 0 ? 10 * x : x; }),
      Map("/Add_1", "Add", "x", "z", [](double x) { return x + 1; })};
  network.steps[1].dtype = DType::kBool;
  network.outputs = {"y", "z"};
  return network;
}

// The scores of two elements are at the threshold.
NamedTensors X(double first = 0.25) {
  Numbers numbers = Scattered(40);
  numbers[7] = first;
  numbers[20] = 0.25;
  return {{.name = "x", .tensor = Float32(numbers)}};
}

// Noise that lifts one score over the threshold.
FakeFault LiftScores(double by) {
  return [by](const LoadRequest& load, const FakeStep& step, Numbers& numbers) {
    if (step.output == "score" && load.precision.empty()) numbers[7] += by;
  };
}

class TieRuleTest : public ::testing::Test {
 protected:
  TieRuleTest() {
    sides_.network = Refinement("aten::gt", "aten::where");
    sides_.graph = Refinement("Greater", "Where");
    sides_.candidate_fault = LiftScores(6e-8);
  }
  FakeSides sides_;
};

TEST_F(TieRuleTest, ASelectionBetweenEqualScoresIsExcused) {
  FakeCase entry(sides_, X());
  ASSERT_NE(entry.subject.expected[0].tensor.As<float>()[7],
            entry.subject.actual[0].tensor.As<float>()[7]);
  const auto finding = ExamineTies(entry.investigation);
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->cause, Cause::kTie);
  EXPECT_FALSE(finding->fails);
  EXPECT_EQ(finding->node, "/Greater");
  EXPECT_EQ(finding->op, "Greater");
  EXPECT_THAT(finding->message,
              HasSubstr("1 cells, 1 elements of the outputs"));
}

TEST_F(TieRuleTest, StrictTiesFail) {
  FakeCase entry(sides_, X());
  const auto lenient = Diagnose(entry.investigation, {});
  ASSERT_EQ(lenient.size(), 1U);
  EXPECT_FALSE(lenient[0].fails);
  const auto strict =
      Diagnose(entry.investigation, {.cases = {}, .strict_ties = true});
  ASSERT_EQ(strict.size(), 1U);
  EXPECT_EQ(strict[0].cause, Cause::kTie);
  EXPECT_TRUE(strict[0].fails);
}

TEST_F(TieRuleTest, ReferencesThatChooseOtherwiseThanFloat64AreExcused) {
  sides_.candidate_fault = {};
  sides_.reference_fault = LiftScores(6e-8);
  FakeCase entry(sides_, X());
  EXPECT_TRUE(ExamineTies(entry.investigation).has_value());
}

TEST_F(TieRuleTest, AThresholdThatIsOnePercentOffIsNoTie) {
  sides_.candidate_fault = {};
  sides_.graph.constants["threshold"] = Float32({0.505});
  Numbers numbers = Scattered(40);
  numbers[7] = 0.252;  // between both thresholds
  FakeCase entry(sides_, {{.name = "x", .tensor = Float32(numbers)}});
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
  const auto findings = Diagnose(entry.investigation, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kExport);
  EXPECT_TRUE(findings[0].fails);
}

TEST_F(TieRuleTest, AScoreThatIsWrongIsNoTie) {
  // A flip far from the threshold.
  sides_.candidate_fault = [](const LoadRequest& /*load*/, const FakeStep& step,
                              Numbers& numbers) {
    if (step.output == "kept") numbers[3] = 1 - numbers[3];
  };
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
}

// A kernel that is half a percent off, seen through the selection alone.
TEST_F(TieRuleTest, ScoresThatAreComputedWrongAreNoTie) {
  sides_.candidate_fault = LiftScores(0.005);
  FakeCase entry(sides_, X(0.248));
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
  const auto findings = Diagnose(entry.investigation, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kRuntime);
  EXPECT_EQ(findings[0].node, "/Add");
}

TEST_F(TieRuleTest, ScoresThatAnyKernelLosesAsMuchAtMayBeEqual) {
  sides_.candidate_fault = LiftScores(0.005);
  sides_.native_fault = LiftScores(-0.005);
  FakeCase entry(sides_, X(0.248));
  EXPECT_TRUE(ExamineTies(entry.investigation).has_value());
}

TEST_F(TieRuleTest, AFaultBesideTheSelectionIsNotExcusedByIt) {
  sides_.candidate_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    LiftScores(6e-8)(load, step, numbers);
    if (step.output == "y") numbers[0] += 0.01;
  };
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
  const auto findings = Diagnose(entry.investigation, {});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kRuntime);
  EXPECT_EQ(findings[0].node, "/Where");
}

TEST_F(TieRuleTest, AFaultOfAnotherOutputIsNotExcusedByIt) {
  sides_.candidate_fault = [](const LoadRequest& load, const FakeStep& step,
                              Numbers& numbers) {
    LiftScores(6e-8)(load, step, numbers);
    if (step.output == "z") numbers[0] += 0.01;
  };
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
}

TEST_F(TieRuleTest, GraphsThatSelectNothingHaveNoTies) {
  sides_.graph.steps.erase(sides_.graph.steps.begin() + 1,
                           sides_.graph.steps.begin() + 3);
  sides_.graph.outputs = {"score", "z"};
  sides_.network.outputs = {"score", "z"};
  sides_.candidate_fault = LiftScores(0.1);
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
}

TEST_F(TieRuleTest, WithoutTheFloat64GraphNothingIsExcused) {
  sides_.load_error = [](const LoadRequest& load) -> std::optional<Error> {
    if (load.kind != ModelKind::kOnnx || load.precision.empty())
      return std::nullopt;
    return Error{.code = ErrorCode::kUnsupported, .message = "no such op"};
  };
  FakeCase entry(sides_, X());
  EXPECT_FALSE(ExamineTies(entry.investigation).has_value());
}

}  // namespace
}  // namespace parity
