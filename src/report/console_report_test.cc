#include "report/console_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parity/compare.h"
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

TEST(ConsoleReportTest, ColoursAreOnlyWhereTheyAreWanted) {
  EXPECT_THAT(FormatConsoleReport(SampleResult(), Colors::kNever),
              Not(HasSubstr("\x1b")));
  EXPECT_THAT(FormatConsoleReport(SampleResult(), Colors::kAnsi),
              HasSubstr("\x1b[32mValidation passed.\x1b[0m"));
}

}  // namespace
}  // namespace parity
