#include "report/sweep_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "parity/sweep.h"
#include "report/sample_sweep.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFields =
    "verdict,cause,message,worst_output,worst_case,worst_difference,"
    "worst_limit,runtime_version,load_ms,first_run_ms,steady_run_ms,repeats,"
    "peak_rss_bytes,provider_nodes,provider_ran_nothing,total_ms,command\r\n";

TEST(SweepCsvTest, AColumnAnAxisThenTheFields) {
  const std::string commands =
      "\"onnx-parity export --output model.onnx\n"
      "onnx-parity validate model.onnx --provider DnnlExecutionProvider\"\r\n";
  EXPECT_EQ(
      FormatSweepCsv(SampleSweep()),
      std::string("row,replace,crop,provider,") + kFields +
          "1,scatter_nd,roi_align,DnnlExecutionProvider,passed,,,pha,standard,"
          "3.3333333333333335e-07,0.005,ONNX Runtime 1.21.0,350.25,512.1,62,5,"
          "412000000,Dnnl=53;CPU=210,false,2345.6," +
          commands +
          "2,scatter_nd,roi_align,XnnpackExecutionProvider,passed,,,pha,"
          "standard,3.3333333333333335e-07,0.005,ONNX Runtime 1.21.0,350.25,"
          "512.1,63,5,412000000,CPU=263,true,2345.6," +
          commands +
          "0,scatter_nd,gather,XnnpackExecutionProvider,error,load,the worker "
          "died of signal 6 (Aborted) while loading,,,,,,,,,0,,,false,900,"
          "onnx-parity validate model.onnx\r\n"
          "5,scatter_nd,gather,XnnpackExecutionProvider,error,load,the worker "
          "died of signal 6 (Aborted) while loading,,,,,,,,,0,,,false,900,"
          "onnx-parity validate model.onnx\r\n"
          "3,scatter_nd,unfold,DnnlExecutionProvider,failed,provider,pha "
          "differs by 0.213 (limit 0.005) (case standard),pha,standard,0.213,"
          "0.005,ONNX Runtime 1.21.0,350.25,512.1,64,5,412000000,"
          "Dnnl=53;CPU=210,false,2345.6," +
          commands);
}

TEST(SweepCsvTest, ASweepWithoutRowsIsItsHeader) {
  EXPECT_EQ(FormatSweepCsv({}), std::string("row,") + kFields);
}

TEST(SweepCsvTest, CommasQuotesAndLineEndsAreQuoted) {
  SweepResult result = SampleSweep();
  result.rows[0].message = "a, \"b\" | c\r\nd";
  result.rows[0].axes[0].value = "\"";
  const std::string text = FormatSweepCsv(result);
  EXPECT_THAT(text, HasSubstr("\r\n1,\"\"\"\",roi_align,"));
  EXPECT_THAT(text, HasSubstr(",passed,,\"a, \"\"b\"\" | c\r\nd\",pha,"));
}

TEST(SweepCsvTest, NumbersThatAreNotFiniteAreNamed) {
  SweepResult result = SampleSweep();
  result.rows[0].worst_difference = std::numeric_limits<double>::quiet_NaN();
  result.rows[1].worst_difference = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(FormatSweepCsv(result), HasSubstr(",standard,NaN,0.005,"));
  EXPECT_THAT(FormatSweepCsv(result), HasSubstr(",standard,-inf,0.005,"));
}

}  // namespace
}  // namespace parity
