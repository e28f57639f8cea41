#include "report/sweep_markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "parity/sweep.h"
#include "report/sample_sweep.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

TEST(SweepMarkdownTest, SaysWhatTheTerminalSays) {
  EXPECT_EQ(
      FormatSweepMarkdown(SampleSweep()),
      "- sweep: crop × provider\n"
      "- rows: 5 of 6, 1 from an earlier run, 61.2 s\n"
      "- all rows: replace scatter_nd\n"
      "- runtime: ONNX Runtime 1.21.0\n"
      "- note: oneDNN convolutions are wrong on this machine\n"
      "\n"
      "| row | crop | provider | verdict | cause | worst | load ms | first | "
      "steady | peak MB | nodes |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n"
      "| 1 | roi_align | Dnnl | passed | - | pha 3.33e-07 | 350.2 | 512.1 | "
      "62.0 | 412 | Dnnl 53, CPU 210 |\n"
      "| 2 | roi_align | Xnnpack | passed | - | pha 3.33e-07 | 350.2 | 512.1 | "
      "63.0 | 412 | Xnnpack ran nothing, CPU 263 |\n"
      "| 0 | gather | Xnnpack | error | load | - | - | - | - | - | - |\n"
      "| 5 | gather | Xnnpack | error | load | - | - | - | - | - | - |\n"
      "| 3 | unfold | Dnnl | failed | provider | pha 0.213 | 350.2 | 512.1 | "
      "64.0 | 412 | Dnnl 53, CPU 210 |\n"
      "\n"
      "- 2 rows (0, 5): the worker died of signal 6 (Aborted) while loading\n"
      "- row 3: pha differs by 0.213 (limit 0.005) (case standard)\n"
      "\n"
      "**Ship this:** crop roi_align, provider DnnlExecutionProvider\n"
      "\n"
      "Row 1: 62.0 ms a run, 350.2 ms to load, 412 MB at most, pha 3.33e-07 at "
      "worst (limit 0.005).\n"
      "\n"
      "```sh\n"
      "onnx-parity export --output model.onnx\n"
      "onnx-parity validate model.onnx --provider DnnlExecutionProvider\n"
      "```\n");
}

TEST(SweepMarkdownTest, ASweepWithoutRowsHasNoTable) {
  SweepResult result;
  result.title = "nothing";
  EXPECT_EQ(FormatSweepMarkdown(result),
            "- sweep: nothing\n"
            "- rows: 0 of 0, 0.0 s\n"
            "\n"
            "**Nothing to ship:** there are no rows.\n");
}

TEST(SweepMarkdownTest, TextsShowAsTheyAre) {
  SweepResult result = SampleSweep();
  result.rows[0].axes[1].value = "a|b";
  result.rows[0].worst_output = "__out__";
  result.rows[2].message = "<b> `x` *y* \\ scatter_nd, \"q\"\n[z](u)";
  const std::string text = FormatSweepMarkdown(result);
  EXPECT_THAT(text, HasSubstr("| a\\|b |"));
  EXPECT_THAT(text, HasSubstr("| \\_\\_out\\_\\_ 3.33e-07 |"));
  EXPECT_THAT(text,
              HasSubstr("- row 0: \\<b\\> \\`x\\` \\*y\\* \\\\ scatter_nd, "
                        "\"q\"\\\\x0A\\[z\\](u)\n"));
}

TEST(SweepMarkdownTest, AFenceIsLongerThanThoseOfTheCommand) {
  SweepResult result = SampleSweep();
  result.rows[0].command = "echo '```' | cat";
  EXPECT_THAT(FormatSweepMarkdown(result),
              HasSubstr("\n````sh\necho '```' | cat\n````\n"));
}

}  // namespace
}  // namespace parity
