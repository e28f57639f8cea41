#include "report/console_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "report/sample_result.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConsoleReportTest, APassingRunIsATableAndOneSentence) {
  const std::string expected =
      "model      model.onnx (opset 12, 20.3 MB)\n"
      "reference  libtorch 2.6.0: BackgroundMattingV2; native (OpenBLAS)\n"
      "candidate  ONNX Runtime 1.21.0: model.onnx; CPUExecutionProvider\n"
      "note oneDNN convolutions are wrong on this machine\n"
      "\n"
      "standard: src 1x3x4x8, bgr 1x3x4x8 (normal, seed 0)\n"
      "  output  shape    max difference  at       limit  mismatches\n"
      "  pha     1x1x4x8  2.5e-07         0,0,2,1  0.005  0           ok\n"
      "  fgr     1x3x4x8  1.25e-06        0,1,0,0  0.001  0           ok\n"
      "  reference 820 ms, candidate 400 ms, comparison 3 ms\n"
      "\n"
      "Validation passed.\n";
  EXPECT_EQ(FormatConsoleReport(SampleResult(), Colors::kNever), expected);
}

TEST(ConsoleReportTest, AFailureNamesOutputDifferenceLimitAndCase) {
  ValidationResult result = SampleResult();
  Comparison& comparison = *result.cases[0].outputs[0].comparison;
  comparison.max_abs_error = 0.213;
  comparison.mismatch_count = 5;
  const std::string text = FormatConsoleReport(result, Colors::kNever);
  EXPECT_THAT(text,
              HasSubstr("0.213           0,0,2,1  0.005  5           FAIL\n"));
  EXPECT_THAT(text, HasSubstr("Validation failed: pha differs by 0.213 (limit "
                              "0.005) (case standard).\n"));
}

TEST(ConsoleReportTest, AReferenceFromTheCacheIsSaidToBe) {
  ValidationResult result = SampleResult();
  EXPECT_THAT(FormatConsoleReport(result, Colors::kNever),
              Not(HasSubstr("from the cache")));
  result.reference.cached = true;
  EXPECT_THAT(FormatConsoleReport(result, Colors::kNever),
              HasSubstr("; from the cache\ncandidate"));
}

TEST(ConsoleReportTest, NaNOnOneSideIsSaidWithItsPlace) {
  ValidationResult result = SampleResult();
  Comparison& comparison = *result.cases[0].outputs[0].comparison;
  comparison.actual_nonfinite.nan = 2;
  comparison.nonfinite_disagreements = 2;
  comparison.first_nonfinite_disagreement = 9;
  comparison.mismatch_count = 2;
  EXPECT_THAT(FormatConsoleReport(result, Colors::kNever),
              HasSubstr("pha: not finite on one side only at 2 elements, first "
                        "at 0,0,1,1 (reference: 0 NaN, 0 +inf, 0 -inf; "
                        "candidate: 2 NaN, 0 +inf, 0 -inf)"));
}

TEST(ConsoleReportTest, EmptyOutputsAreNotCalledOk) {
  ValidationResult result = SampleResult();
  result.cases[0].outputs[0].shape = {0, 4};
  result.cases[0].outputs[0].comparison = Comparison{};
  const std::string text = FormatConsoleReport(result, Colors::kNever);
  EXPECT_THAT(text, HasSubstr("nothing to compare"));
  EXPECT_THAT(text, HasSubstr("Could not tell: output pha had no elements in "
                              "any case: nothing was compared.\n"));
}

TEST(ConsoleReportTest, FindingsStandAboveTheVerdict) {
  ValidationResult result = SampleResult();
  Finding rounding;
  rounding.fails = false;
  rounding.message = "nothing but rounding";
  result.findings = {{.cause = Cause::kRuntime,
                      .confidence = Confidence::kCertain,
                      .message = "the runtime computes it wrong",
                      .case_name = "standard",
                      .outputs = {"pha"},
                      .node = "/conv/Conv",
                      .op = "Conv",
                      .module = "conv",
                      .evidence = {{.name = "wrong nodes", .value = "1"}},
                      .fails = true},
                     rounding};
  const std::string text = FormatConsoleReport(result, Colors::kNever);
  EXPECT_THAT(text, HasSubstr("\nruntime (certain) the runtime computes it "
                              "wrong\n"
                              "  case: standard\n"
                              "  node: /conv/Conv (Conv), module conv\n"
                              "  wrong nodes: 1\n"
                              "\n"
                              "Validation failed: "));
  // Rounding that nobody asked about is no news.
  EXPECT_THAT(text, Not(HasSubstr("nothing but rounding")));
}

TEST(ConsoleReportTest, BudgetsTiesAndCasesThatDidNotRunAreShown) {
  ValidationResult result = SampleResult();
  OutputResult& output = result.cases[0].outputs[0];
  output.comparison->mismatch_count = 2;
  output.excused_as_tie = true;
  output.budget.emplace();
  output.budget->reference = ErrorSize{.rms = 1e-8, .max = 5.7e-8};
  output.budget->exported =
      ErrorSize{.max = 0.25, .nonfinite_disagreements = 3};
  output.budget->noise_max = 1e-6;
  CaseResult broken;
  broken.name = "wide";
  broken.error = Error{.code = ErrorCode::kBackend, .message = "Reshape"};
  result.cases.push_back(broken);
  const std::string text = FormatConsoleReport(result, Colors::kNever);
  EXPECT_THAT(text, HasSubstr("  2           tie\n"));
  EXPECT_THAT(text,
              HasSubstr("pha: error of the reference 5.7e-08, export 0.25 (and "
                        "3 elements not finite on one side); rounding explains "
                        "1e-06\n"));
  EXPECT_THAT(text, HasSubstr("FAIL the candidate does not run: Reshape\n"));
}

TEST(ConsoleReportTest, ColoursAreOnlyWhereTheyAreWanted) {
  EXPECT_THAT(FormatConsoleReport(SampleResult(), Colors::kNever),
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(FormatConsoleReport(SampleResult(), Colors::kAnsi),
              HasSubstr("\x1b[32mValidation passed.\x1b[0m"));
}

}  // namespace
}  // namespace parity
