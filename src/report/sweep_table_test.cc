#include "report/sweep_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <format>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "report/console_report.h"
#include "report/sample_sweep.h"
#include "report/sweep_words.h"
#include "report/text_table.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Text(const SweepResult& result) {
  return FormatSweepTable(result, Colors::kNever);
}

TEST(SweepTableTest, ASweepIsATableItsMessagesAndWhatToShip) {
  EXPECT_EQ(
      Text(SampleSweep()),
      "sweep      crop × provider\n"
      "rows       5 of 6, 1 from an earlier run, 61.2 s\n"
      "all rows   replace scatter_nd\n"
      "runtime    ONNX Runtime 1.21.0\n"
      "note oneDNN convolutions are wrong on this machine\n"
      "\n"
      "  row  crop       provider  verdict  cause     worst         load ms  "
      "first  steady  peak MB  nodes\n"
      "  1    roi_align  Dnnl      passed   -         pha 3.33e-07  350.2    "
      "512.1  62.0    412      Dnnl 53, CPU 210\n"
      "  2    roi_align  Xnnpack   passed   -         pha 3.33e-07  350.2    "
      "512.1  63.0    412      Xnnpack ran nothing, CPU 263\n"
      "  0    gather     Xnnpack   error    load      -             -        "
      "-      -       -        -\n"
      "  5    gather     Xnnpack   error    load      -             -        "
      "-      -       -        -\n"
      "  3    unfold     Dnnl      failed   provider  pha 0.213     350.2    "
      "512.1  64.0    412      Dnnl 53, CPU 210\n"
      "\n"
      "  2 rows (0, 5): the worker died of signal 6 (Aborted) while loading\n"
      "  row 3: pha differs by 0.213 (limit 0.005) (case standard)\n"
      "\n"
      "Ship this: crop roi_align, provider DnnlExecutionProvider\n"
      "  Row 1: 62.0 ms a run, 350.2 ms to load, 412 MB at most, pha 3.33e-07 "
      "at worst (limit 0.005).\n"
      "\n"
      "  onnx-parity export --output model.onnx\n"
      "  onnx-parity validate model.onnx --provider DnnlExecutionProvider\n");
}

// Without the changes of colour.
std::string Plain(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

TEST(SweepTableTest, ColoursChangeNothingButColours) {
  const std::string text = FormatSweepTable(SampleSweep(), Colors::kAnsi);
  EXPECT_EQ(Plain(text), Text(SampleSweep()));
  EXPECT_THAT(text, HasSubstr("\x1b[32mpassed\x1b[0m   -"));
  EXPECT_THAT(text, HasSubstr("\x1b[33merror\x1b[0m    load"));
  EXPECT_THAT(text, HasSubstr("\x1b[31mfailed\x1b[0m   provider"));
  EXPECT_THAT(text, HasSubstr("\x1b[33mXnnpack ran nothing, CPU 263\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[32mShip this:\x1b[0m crop"));
}

TEST(SweepTableTest, ASweepWithoutRowsSaysSo) {
  SweepResult result;
  result.title = "nothing";
  result.shard = {.index = 3, .count = 4};
  result.row_count = 2;
  EXPECT_EQ(Text(result),
            "sweep      nothing\n"
            "rows       0 of 2 (shard 3/4), 0.0 s\n"
            "\n"
            "Nothing to ship: this shard has no rows.\n");
}

TEST(SweepTableTest, WhenNothingPassedTheMostFrequentCauseIsNamed) {
  SweepResult result = SampleSweep();
  for (SweepRow& row : result.rows) {
    if (row.verdict == Verdict::kPassed) row.verdict = Verdict::kFailed;
  }
  result.rows[0].cause = Cause::kProvider;
  result.rows[1].cause = Cause::kProvider;
  EXPECT_THAT(Text(result),
              EndsWith("\nNothing to ship: none of 5 rows passed; the most "
                       "frequent cause is provider (3 rows).\n"));
  result.rows = {CrashedRow(0)};
  EXPECT_THAT(Text(result),
              EndsWith("\nNothing to ship: the one row did not pass, cause "
                       "load.\n"));
}

TEST(SweepTableTest, WithoutAnyKnownCauseNoneIsNamed) {
  SweepResult result;
  result.rows = {CrashedRow(0), CrashedRow(1)};
  for (SweepRow& row : result.rows) row.cause.reset();
  EXPECT_THAT(Text(result),
              EndsWith("\nNothing to ship: none of 2 rows passed.\n"));
}

TEST(SweepTableTest, OneRowIsNamedByAllItsAxes) {
  SweepResult result;
  result.rows = {SampleRow(0)};
  result.row_count = 1;
  const std::string words =
      "replace scatter_nd, crop roi_align, provider DnnlExecutionProvider\n";
  EXPECT_THAT(Text(result), HasSubstr("all rows   " + words));
  EXPECT_THAT(Text(result), HasSubstr("Ship this: " + words));
  result.rows[0].axes.clear();
  EXPECT_THAT(Text(result), HasSubstr("Ship this: row 0\n"));
}

TEST(SweepTableTest, ARowThatIsListedFirstButNotProposedIsExplained) {
  SweepResult result = SampleSweep();
  std::swap(result.rows[0], result.rows[1]);
  result.rows[0].steady_run_ms = 10;
  EXPECT_THAT(
      Text(result),
      HasSubstr("\n  Row 2 is faster, but its provider ran no node: its "
                "time is that of another one.\n"));
  result.rows[0] = SampleRow(4);
  result.rows[0].steady_run_ms = 61.9;
  EXPECT_THAT(
      Text(result),
      HasSubstr("\n  Row 4 is faster by no more than measurements vary.\n"));
}

TEST(SweepTableTest, ARecommendationSaysHowItDidAtTheOtherShapes) {
  SweepResult result;
  result.rows = {SampleRow(0), SampleRow(1), SampleRow(2)};
  for (SweepRow& row : result.rows) {
    row.axes.push_back(
        {.axis = "shape", .value = std::format("1x3x{}x8", 8 + row.index)});
    row.steady_run_ms = 50.0 + static_cast<double>(row.index);
  }
  EXPECT_THAT(
      Text(result),
      HasSubstr("\n  It passed at all 3 shapes; this one took longest.\n"));
  result.rows[1].verdict = Verdict::kFailed;
  EXPECT_THAT(Text(result),
              HasSubstr("\n  It did NOT pass at shape 1x3x9x8.\n"));
}

TEST(SweepTableTest, AProviderThatRanNothingIsSaidWhereItIsProposed) {
  SweepResult result = SampleSweep();
  result.rows = {result.rows[1]};
  EXPECT_THAT(Text(result),
              HasSubstr("\n  Its provider ran no node: another one did all the "
                        "work.\n"));
}

TEST(SweepTableTest, NotANumberAndInfinityAreDifferences) {
  SweepResult result = SampleSweep();
  result.rows[0].worst_difference = std::numeric_limits<double>::quiet_NaN();
  result.rows[1].worst_difference = std::numeric_limits<double>::infinity();
  EXPECT_THAT(Text(result), HasSubstr("  pha NaN    "));
  EXPECT_THAT(Text(result), HasSubstr("  pha inf    "));
}

TEST(SweepTableTest, TextsOfAJournalCannotControlTheTerminal) {
  SweepResult result = SampleSweep();
  result.notes = {"\x1b[2J"};
  result.title = "a\nb";
  result.rows[0].axes[1].value = "\x1b]0;x";
  result.rows[0].command = "echo \x1b[2J";
  result.rows[0].worst_output = "p\nha";
  result.rows[2].message = "line\nend";
  EXPECT_THAT(Text(result), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Text(result), HasSubstr("  row 0: line\\x0Aend\n"));
  EXPECT_THAT(Text(result), HasSubstr("sweep      a\\x0Ab\n"));
}

TEST(SweepTableTest, LongTextsAreShortenedInTheirMiddleButNotTheCommand) {
  SweepResult result = SampleSweep();
  result.rows[0].command = "run " + std::string(9000, 'x');
  result.rows[2].message = std::string(500, 'y') + "end";
  result.rows[0].axes[1].value = "/" + std::string(80, 'z') + "/lib.so";
  const std::string text = Text(result);
  EXPECT_THAT(text, HasSubstr(result.rows[0].command));
  EXPECT_THAT(text, HasSubstr("yyy…yyy"));
  EXPECT_THAT(text, HasSubstr("yend\n"));
  EXPECT_THAT(text, HasSubstr("z…z"));
  EXPECT_EQ(Shortened("äöüß€", 5), "äöüß€");
  EXPECT_EQ(Shortened("äöüß€x", 5), "äö…€x");
  EXPECT_EQ(Shortened("", 5), "");
}

TEST(SweepTableTest, ManyMessagesAreCounted) {
  SweepResult result;
  for (std::size_t row = 0; row < 30; ++row) {
    result.rows.push_back(CrashedRow(row));
    result.rows.back().message = std::format("message {}", row);
  }
  for (std::size_t row = 30; row < 50; ++row)
    result.rows.push_back(CrashedRow(row));
  const std::vector<std::string> messages = SweepMessages(result.rows);
  ASSERT_EQ(messages.size(), 21U);
  EXPECT_EQ(messages.back(), "… and 11 more messages");
  result.rows.erase(result.rows.begin(), result.rows.begin() + 30);
  EXPECT_THAT(SweepMessages(result.rows),
              ElementsAre("20 rows (30, 31, 32, 33, 34, 35, 36, 37, …): the "
                          "worker died of signal 6 (Aborted) while loading"));
}

TEST(SweepTableTest, ATypicalSweepFitsInto140Columns) {
  SweepResult result = SampleSweep();
  result.rows.push_back(SampleRow(4));
  result.rows.back().axes = {
      {.axis = "replace", .value = "scatter_element"},
      {.axis = "crop", .value = "roi_align"},
      {.axis = "provider", .value = "XnnpackExecutionProvider"}};
  result.rows.back().provider_nodes = {{"CPUExecutionProvider", 263}};
  result.rows.back().cause = Cause::kOptimizer;
  const std::string text = Text(result);
  std::size_t start = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', start)) {
    EXPECT_LE(DisplayWidth(text.substr(start, end - start)), 140U);
    start = end + 1;
  }
}

}  // namespace
}  // namespace parity
