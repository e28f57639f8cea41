// Journals of a sweep's parts, merged by the real program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parity/sweep.h"
#include "sweep/journal_text.h"
#include "sweep/sweep_row_json.h"
#include "sweep/testing/sample_rows.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class MergeTest : public ::testing::Test {
 protected:
  // Of a sweep of three rows.
  std::string Journal(const std::string& name, Shard shard,
                      const std::vector<SweepRow>& rows,
                      const std::string& plan = "00ff") const {
    std::string text = EncodeJournalHeader({.plan = plan,
                                            .title = "crop × provider",
                                            .row_count = 3,
                                            .shard = shard,
                                            .notes = {}});
    for (const SweepRow& row : rows) text += EncodeSweepRow(row) + "\n";
    WriteText(folder_ / name, text);
    return folder_ / name;
  }
  std::string First() const {
    return Journal("a.jsonl", {.index = 1, .count = 2},
                   {SampleRow(0), CrashedRow(2)});
  }
  std::string Second() const {
    return Journal("b.jsonl", {.index = 2, .count = 2}, {SampleRow(1)});
  }

  TestFolder folder_;
};

TEST_F(MergeTest, TwoPartsAreOneTableAndWhatToShip) {
  const ToolRun run = RunTool({"merge", First(), Second()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_THAT(run.out, StartsWith("sweep      crop × provider\nrows       3 "
                                  "of 3, "));
  EXPECT_THAT(run.out, HasSubstr("\nShip this: crop roi_align, provider "
                                 "DnnlExecutionProvider\n"));
  EXPECT_THAT(run.out, EndsWith("  onnx-parity validate model.onnx --provider "
                                "DnnlExecutionProvider\n"));
}

TEST_F(MergeTest, RequireAllIsOneWhenARowDidNotPass) {
  const std::string first = First();
  const std::string second = Second();
  EXPECT_EQ(RunTool({"merge", first, second, "--require", "all"}).exit_code, 1);
  const std::string good =
      Journal("good.jsonl", {}, {SampleRow(0), SampleRow(1), SampleRow(2)});
  EXPECT_EQ(RunTool({"merge", good, "--require", "all"}).exit_code, 0);
  const std::string bad =
      Journal("bad.jsonl", {}, {CrashedRow(0), CrashedRow(1), CrashedRow(2)});
  const ToolRun run = RunTool({"merge", bad});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("Nothing to ship: none of 3 rows passed"));
}

TEST_F(MergeTest, MissingRowsAreShownWithoutAndSaidOnStandardError) {
  const std::string first = First();
  const ToolRun run = RunTool({"merge", first});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, HasSubstr("rows       2 of 3, "));
  EXPECT_EQ(run.err,
            "onnx-parity: error: 1 of 3 rows is in no journal, row 1 first\n");
  const ToolRun allowed = RunTool({"merge", first, "--allow-missing"});
  EXPECT_EQ(allowed.exit_code, 0);
  EXPECT_THAT(allowed.out,
              HasSubstr("note 1 of 3 rows is in no journal, row 1 first\n"));
  EXPECT_THAT(allowed.err, IsEmpty());
}

TEST_F(MergeTest, WhatDoesNotBelongTogetherIsOneLine) {
  const std::string first = First();
  const std::string other = Journal("other.jsonl", {}, {}, "beef");
  const ToolRun run = RunTool({"merge", first, other, "--allow-missing"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("are journals of different sweeps"));
  const std::string conflict = Journal("conflict.jsonl", {}, {CrashedRow(0)});
  const ToolRun verdicts =
      RunTool({"merge", first, conflict, "--allow-missing"});
  EXPECT_EQ(verdicts.exit_code, 2);
  EXPECT_THAT(verdicts.err, HasSubstr("row 0 is 'passed' in "));
}

TEST_F(MergeTest, EveryFormatIsWrittenAndTheTableShown) {
  const ToolRun run =
      RunTool({"merge", First(), Second(), "--json", folder_ / "s.json",
               "--csv", folder_ / "s.csv", "--markdown", folder_ / "s.md"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Ship this:"));
  EXPECT_THAT(ReadText(folder_ / "s.json"),
              HasSubstr("\"command_line\": [\n    \""));
  EXPECT_THAT(ReadText(folder_ / "s.csv"), StartsWith("row,replace,crop,"));
  EXPECT_THAT(ReadText(folder_ / "s.md"), HasSubstr("**Ship this:** crop"));
}

TEST_F(MergeTest, ADashIsStandardOutputInsteadOfTheTable) {
  const ToolRun run = RunTool({"merge", First(), Second(), "--csv", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, StartsWith("row,replace,crop,provider,verdict,"));
  EXPECT_THAT(folder_.Entries(), ElementsAre("a.jsonl", "b.jsonl"));
}

TEST_F(MergeTest, AnOutputThatCannotBeWrittenIsSaidBeforeAnythingIsRead) {
  const ToolRun run =
      RunTool({"merge", folder_ / "none.jsonl", "--csv", folder_ / "no/s.csv"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no/s.csv: No such file or directory\n"));
  const ToolRun unread =
      RunTool({"merge", folder_ / "none.jsonl", "--csv", folder_ / "s.csv"});
  EXPECT_EQ(unread.exit_code, 2);
  EXPECT_THAT(unread.err, HasSubstr("none.jsonl: No such file or directory\n"));
  EXPECT_THAT(folder_.Entries(), IsEmpty());
}

}  // namespace
}  // namespace parity
