#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parity/validation.h"

namespace parity {
namespace {

using ::testing::ElementsAre;

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

TEST(VerdictTest, AFailureOutweighsWhatCouldNotBeCompared) {
  EXPECT_EQ(
      Result({Case("a", {Output("y", 0, 0), Output("z", 1, 1)})}).verdict(),
      Verdict::kFailed);
}

}  // namespace
}  // namespace parity
