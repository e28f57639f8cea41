#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OutputResult Output(const std::string& name, std::int64_t elements,
                    std::int64_t mismatches) {
  OutputResult output{.name = name,
                      .shape = {elements},
                      .dtype = "float32",
                      .tolerance = {},
                      .contract_failures = {},
                      .comparison = {},
                      .budget = {}};
  output.comparison.emplace();
  output.comparison->element_count = elements;
  output.comparison->mismatch_count = mismatches;
  output.comparison->max_abs_error = mismatches > 0 ? 0.25 : 1e-7;
  return output;
}

CaseResult Case(const std::string& name, std::vector<OutputResult> outputs) {
  CaseResult result;
  result.name = name;
  result.outputs = std::move(outputs);
  return result;
}

ValidationResult Result(std::vector<CaseResult> cases) {
  ValidationResult result;
  result.cases = std::move(cases);
  return result;
}

TEST(VerdictTest, NothingComparedIsNeverAPass) {
  EXPECT_EQ(Result({}).verdict(), Verdict::kUndecided);
  EXPECT_EQ(Result({Case("a", {})}).verdict(), Verdict::kUndecided);
  EXPECT_EQ(Result({Case("a", {Output("y", 0, 0)})}).verdict(),
            Verdict::kUndecided);
  EXPECT_THAT(
      Result({Case("a", {Output("y", 0, 0)})}).Reasons(),
      ElementsAre(
          "output y had no elements in any case: nothing was compared"));
}

TEST(VerdictTest, AnOutputThatIsEmptyInOneCaseIsJudgedByTheOthers) {
  EXPECT_EQ(
      Result({Case("a", {Output("y", 0, 0)}), Case("b", {Output("y", 3, 0)})})
          .verdict(),
      Verdict::kPassed);
  EXPECT_EQ(
      Result({Case("a", {Output("y", 3, 0), Output("z", 0, 0)})}).verdict(),
      Verdict::kUndecided);
}

TEST(VerdictTest, OneMismatchInOneCaseFails) {
  const ValidationResult result =
      Result({Case("a", {Output("y", 3, 0)}), Case("b", {Output("y", 3, 1)})});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  EXPECT_THAT(result.Reasons(),
              ElementsAre("y differs by 0.25 (limit 0.005) (case b)"));
}

TEST(VerdictTest, BrokenPromisesComeBeforeDifferences) {
  CaseResult broken = Case("b", {Output("y", 3, 0)});
  broken.outputs[0].contract_failures = {"shape is 1, the reference's is 3"};
  broken.outputs[0].comparison.reset();
  const ValidationResult result =
      Result({Case("a", {Output("y", 3, 1)}), broken});
  EXPECT_THAT(result.Reasons(),
              ElementsAre("y: shape is 1, the reference's is 3 (case b)",
                          "y differs by 0.25 (limit 0.005) (case a)"));
}

ErrorBudget Budget(NoiseVerdict verdict) {
  ErrorBudget budget;
  budget.total.max = 3;
  budget.noise_max = 0.5;
  budget.verdict = verdict;
  return budget;
}

TEST(VerdictTest, TheNoiseCriterionIgnoresTheTolerance) {
  OutputResult output = Output("y", 3, 1);
  output.criterion = Criterion::kNoise;
  output.budget = Budget(NoiseVerdict::kWithin);
  EXPECT_TRUE(output.passed());
  output = Output("y", 3, 0);
  output.criterion = Criterion::kNoise;
  output.budget = Budget(NoiseVerdict::kBeyond);
  EXPECT_FALSE(output.passed());
  EXPECT_THAT(
      Result({Case("a", {output})}).Reasons(),
      ElementsAre("y differs by 1e-07, 6 × what rounding explains (case a)"));
}

TEST(VerdictTest, WhereNoiseIsNotKnownTheToleranceDecides) {
  OutputResult output = Output("y", 3, 1);
  output.criterion = Criterion::kNoise;
  EXPECT_FALSE(output.passed());
  output.budget = Budget(NoiseVerdict::kUnknown);
  EXPECT_FALSE(output.passed());
  output.comparison->mismatch_count = 0;
  EXPECT_TRUE(output.passed());
}

TEST(VerdictTest, TheToleranceDoesNotAskForNoise) {
  OutputResult output = Output("y", 3, 0);
  output.budget = Budget(NoiseVerdict::kBeyond);
  EXPECT_TRUE(output.passed());
}

TEST(VerdictTest, AnExcusedTiePassesUnlessThePromiseIsBroken) {
  OutputResult output = Output("y", 3, 2);
  output.excused_as_tie = true;
  EXPECT_EQ(Result({Case("a", {output})}).verdict(), Verdict::kPassed);
  output.contract_failures = {"dtype"};
  EXPECT_FALSE(output.passed());
}

TEST(VerdictTest, ACaseThatTheCandidateDoesNotRunFails) {
  CaseResult broken = Case("b", {});
  broken.error = Error{.code = ErrorCode::kBackend, .message = "Reshape"};
  const ValidationResult result =
      Result({Case("a", {Output("y", 3, 0)}), broken});
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  EXPECT_THAT(result.Reasons(),
              ElementsAre("the candidate does not run case b: Reshape"));
}

TEST(VerdictTest, AFindingThatFailsOutweighsCasesThatPass) {
  ValidationResult result = Result({Case("a", {Output("y", 3, 0)})});
  EXPECT_EQ(result.cause(), std::nullopt);
  Finding finding;
  finding.cause = Cause::kReference;
  finding.message = "not consistent over the batch";
  finding.case_name = "a";
  finding.fails = false;
  result.findings = {finding};
  EXPECT_EQ(result.verdict(), Verdict::kPassed);
  EXPECT_EQ(result.cause(), Cause::kReference);
  EXPECT_THAT(result.Reasons(), IsEmpty());
  result.findings[0].fails = true;
  EXPECT_EQ(result.verdict(), Verdict::kFailed);
  EXPECT_THAT(result.Reasons(),
              ElementsAre("not consistent over the batch (case a)"));
}

TEST(VerdictTest, AnErrorMeansThatNothingCanBeSaid) {
  ValidationResult result = Result({Case("a", {Output("y", 3, 1)})});
  result.error = Error{.code = ErrorCode::kWorkerDied, .message = "killed"};
  EXPECT_EQ(result.verdict(), Verdict::kUndecided);
  EXPECT_THAT(result.Reasons(), ElementsAre("killed"));
}

TEST(CaseResultTest, TheSteadyTimeIsTheMedianOfTheRepeats) {
  CaseResult result;
  EXPECT_EQ(result.candidate_steady_ms(), std::nullopt);
  result.candidate_repeat_ms = {9, 1, 4};
  EXPECT_EQ(result.candidate_steady_ms(), 4.0);
  result.candidate_repeat_ms = {9, 1, 4, 5};
  EXPECT_EQ(result.candidate_steady_ms(), 4.5);
}

TEST(VerdictTest, AFailureOutweighsWhatCouldNotBeCompared) {
  EXPECT_EQ(
      Result({Case("a", {Output("y", 0, 0), Output("z", 1, 1)})}).verdict(),
      Verdict::kFailed);
}

}  // namespace
}  // namespace parity
