#include "sweep/merge_sweeps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/journal_text.h"
#include "sweep/sweep_row_json.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MergeSweepsTest : public ::testing::Test {
 protected:
  // A journal with these rows, in this order, each with its sample.
  std::filesystem::path Journal(const char* name,
                                const std::vector<SweepRow>& rows,
                                Shard shard = {}) const {
    return Journal(name, rows, shard, "00ff");
  }
  std::filesystem::path Journal(const char* name,
                                const std::vector<SweepRow>& rows, Shard shard,
                                const char* plan) const {
    std::string text = EncodeJournalHeader(
        {.plan = plan,
         .title = std::string("sweep ") + plan,
         .row_count = 4,
         .shard = shard,
         .notes = {"oneDNN is wrong here", std::string("of ") + name}});
    for (const SweepRow& row : rows) text += EncodeSweepRow(row) + "\n";
    WriteText(folder_ / name, text);
    return folder_ / name;
  }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  TemporaryFolder folder_;
};

TEST_F(MergeSweepsTest, ShardsMakeTheWholeSweepRanked) {
  SweepRow slow = SampleRow(0);
  slow.steady_run_ms = 500;
  const auto a = Journal("a", {CrashedRow(2), slow}, {.index = 1, .count = 2});
  const auto b =
      Journal("b", {SampleRow(1), SampleRow(3)}, {.index = 2, .count = 2});
  const Result<SweepResult> merged = MergeSweeps({a, b}, false);
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->plan, "00ff");
  EXPECT_EQ(merged->title, "sweep 00ff");
  EXPECT_EQ(merged->row_count, 4U);
  EXPECT_EQ(merged->shard, Shard{});
  EXPECT_EQ(merged->resumed, 0U);
  EXPECT_THAT(merged->notes,
              ElementsAre("oneDNN is wrong here", "of a", "of b"));
  std::vector<std::size_t> order;
  for (const SweepRow& row : merged->rows) order.push_back(row.index);
  EXPECT_THAT(order, ElementsAre(1, 3, 0, 2));
  EXPECT_DOUBLE_EQ(merged->total_ms, 3 * 2345.6 + 900);
  ASSERT_NE(merged->recommended(), nullptr);
  EXPECT_EQ(merged->recommended()->index, 1U);
  EXPECT_TRUE(CheckComplete(*merged).has_value());
}

TEST_F(MergeSweepsTest, JournalsOfDifferentSweepsAreRefused) {
  const auto a = Journal("a", {SampleRow(0)});
  const auto b = Journal("b", {SampleRow(1)}, {}, "beef");
  const Result<SweepResult> merged = MergeSweeps({a, b}, true);
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::kIncompatible);
  EXPECT_EQ(merged.error().message,
            Path("a") + " and " + Path("b") +
                " are journals of different sweeps ('sweep 00ff' and 'sweep "
                "beef')");
}

TEST_F(MergeSweepsTest, TwoVerdictsForOneRowAreRefused) {
  SweepRow failed = SampleRow(1);
  failed.verdict = Verdict::kFailed;
  const auto a = Journal("a", {SampleRow(0), SampleRow(1)});
  const auto b = Journal("b", {failed});
  const Result<SweepResult> merged = MergeSweeps({a, b}, true);
  ASSERT_FALSE(merged.has_value());
  EXPECT_EQ(merged.error().code, ErrorCode::kIncompatible);
  EXPECT_EQ(merged.error().message, "row 1 is 'passed' in " + Path("a") +
                                        ", but 'failed' in " + Path("b"));
}

TEST_F(MergeSweepsTest, RowsThatTwoJournalsHaveAreANote) {
  SweepRow again = SampleRow(1);
  again.steady_run_ms = 1;
  const auto a = Journal("a", {SampleRow(0), SampleRow(1), SampleRow(2)});
  const auto b = Journal("b", {again, SampleRow(2), SampleRow(3)});
  const Result<SweepResult> merged = MergeSweeps({a, b}, false);
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->rows.size(), 4U);
  EXPECT_EQ(merged->rows[1].steady_run_ms, SampleRow(1).steady_run_ms);
  EXPECT_EQ(merged->notes.back(), "rows 1, 2 of " + Path("a") + " are in " +
                                      Path("b") + ", too; the first counts");
}

TEST_F(MergeSweepsTest, MissingRowsAreAnErrorUnlessAllowed) {
  const auto a = Journal("a", {SampleRow(0), SampleRow(2)});
  const Result<SweepResult> refused = MergeSweeps({a}, false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(refused.error().message,
            "2 of 4 rows are in no journal, row 1 first");
  const Result<SweepResult> merged = MergeSweeps({a}, true);
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->rows.size(), 2U);
  EXPECT_EQ(merged->notes.back(), refused.error().message);
  EXPECT_EQ(CheckComplete(*merged).error().message, refused.error().message);
}

TEST_F(MergeSweepsTest, ATornLastLineIsANoteAndTheFileStaysAsItIs) {
  const auto a = Journal("a", {SampleRow(0), SampleRow(1)});
  const auto b = Journal("b", {SampleRow(2), SampleRow(3)});
  const std::string torn = ReadText(b) + "{\"row\":";
  WriteText(b, torn);
  const Result<SweepResult> merged = MergeSweeps({a, b}, false);
  ASSERT_TRUE(merged.has_value()) << merged.error().message;
  EXPECT_EQ(merged->notes.back(),
            Path("b") +
                ": its last line is incomplete, as after a kill; that "
                "row is left out");
  EXPECT_EQ(ReadText(b), torn);
}

TEST_F(MergeSweepsTest, UnusableFilesAreNamed) {
  const auto a = Journal("a", {SampleRow(0)});
  EXPECT_EQ(MergeSweeps({}, true).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(MergeSweeps({a, folder_ / "none"}, true).error().code,
            ErrorCode::kNotFound);
  WriteText(folder_ / "text", "hello\n");
  EXPECT_THAT(MergeSweeps({a, folder_ / "text"}, true).error().message,
              HasSubstr("text: not the journal of a sweep"));
}

}  // namespace
}  // namespace parity
