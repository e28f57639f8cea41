#include "sweep/sweep_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::ElementsAre;

SweepRow Row(std::size_t index, Verdict verdict,
             std::optional<double> steady_run_ms) {
  SweepRow row = SampleRow(index);
  row.verdict = verdict;
  row.steady_run_ms = steady_run_ms;
  return row;
}

std::vector<std::size_t> Ranked(std::vector<SweepRow> rows) {
  RankRows(rows);
  std::vector<std::size_t> order;
  order.reserve(rows.size());
  for (const SweepRow& row : rows) order.push_back(row.index);
  return order;
}

// -1 for none.
int Recommended(std::vector<SweepRow> rows) {
  SweepResult result;
  result.rows = std::move(rows);
  const SweepRow* const row = result.recommended();
  return row == nullptr ? -1 : static_cast<int>(row->index);
}

TEST(SweepRankingTest, PassedBeforeErrorBeforeFailedAndTheFastestFirst) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(
      Ranked({Row(0, Verdict::kFailed, 1), Row(1, Verdict::kPassed, {}),
              Row(2, Verdict::kUndecided, 2), Row(3, Verdict::kPassed, 30),
              Row(4, Verdict::kPassed, 20), Row(5, Verdict::kFailed, 0.5),
              Row(6, Verdict::kPassed, kNaN), Row(7, Verdict::kUndecided, 1)}),
      ElementsAre(4, 3, 1, 6, 2, 7, 0, 5));
}

TEST(SweepRankingTest, EqualTimesAreOrderedByIndex) {
  EXPECT_THAT(Ranked({Row(2, Verdict::kPassed, 5), Row(0, Verdict::kPassed, 5),
                      Row(1, Verdict::kPassed, 5)}),
              ElementsAre(0, 1, 2));
}

TEST(SweepRankingTest, TheFastestThatPassedIsRecommended) {
  EXPECT_EQ(Recommended(
                {Row(0, Verdict::kPassed, 30), Row(1, Verdict::kFailed, 1),
                 Row(2, Verdict::kPassed, 20), Row(3, Verdict::kUndecided, 1)}),
            2);
  EXPECT_EQ(Recommended(
                {Row(0, Verdict::kPassed, {}), Row(1, Verdict::kPassed, 500)}),
            1);
  EXPECT_EQ(
      Recommended({Row(1, Verdict::kPassed, {}), Row(0, Verdict::kPassed, {})}),
      0);
}

TEST(SweepRankingTest, NothingIsRecommendedWhenNothingPassed) {
  EXPECT_EQ(Recommended({}), -1);
  EXPECT_EQ(Recommended(
                {Row(0, Verdict::kFailed, 1), Row(1, Verdict::kUndecided, 1)}),
            -1);
}

TEST(SweepRankingTest, ADifferenceWithinNoiseDoesNotDecide) {
  EXPECT_EQ(Recommended({Row(5, Verdict::kPassed, 100),
                         Row(2, Verdict::kPassed, 101.9)}),
            2);
  EXPECT_EQ(Recommended({Row(5, Verdict::kPassed, 100),
                         Row(2, Verdict::kPassed, 102.1)}),
            5);
}

TEST(SweepRankingTest, AProviderThatRanNothingIsTheLastResort) {
  SweepRow idle = Row(0, Verdict::kPassed, 10);
  idle.provider_nodes = {{"CPUExecutionProvider", 263}};
  EXPECT_TRUE(idle.provider_ran_nothing());
  const SweepRow busy = Row(1, Verdict::kPassed, 20);
  EXPECT_EQ(Recommended({idle, busy}), 1);
  EXPECT_THAT(Ranked({busy, idle}), ElementsAre(0, 1));
  EXPECT_EQ(Recommended({idle, Row(1, Verdict::kFailed, 20)}), 0);
}

SweepRow Shaped(SweepRow row, const std::string& crop,
                const std::string& shape) {
  row.axes = {{.axis = "crop", .value = crop},
              {.axis = "shape", .value = shape},
              {.axis = "provider", .value = "DnnlExecutionProvider"}};
  return row;
}

TEST(SweepRankingTest, WhatFailsAtAnotherShapeIsNotRecommended) {
  // Fast at the small shape, wrong at the large one.
  EXPECT_EQ(
      Recommended(
          {Shaped(Row(0, Verdict::kPassed, 1), "gather", "1x3x64x64"),
           Shaped(Row(1, Verdict::kFailed, 90), "gather", "1x3x720x1280"),
           Shaped(Row(2, Verdict::kPassed, 2), "unfold", "1x3x64x64"),
           Shaped(Row(3, Verdict::kPassed, 99), "unfold", "1x3x720x1280")}),
      3);
}

TEST(SweepRankingTest, TheFastestOverAllShapesIsRecommended) {
  EXPECT_EQ(
      Recommended(
          {Shaped(Row(0, Verdict::kPassed, 1), "gather", "1x3x64x64"),
           Shaped(Row(1, Verdict::kPassed, 99), "gather", "1x3x720x1280"),
           Shaped(Row(2, Verdict::kPassed, 3), "unfold", "1x3x64x64"),
           Shaped(Row(3, Verdict::kPassed, 80), "unfold", "1x3x720x1280")}),
      3);
}

TEST(SweepRankingTest, AShapeThatNoneTakesDecidesNothing) {
  EXPECT_EQ(
      Recommended(
          {Shaped(Row(0, Verdict::kPassed, 2), "gather", "1x3x64x64"),
           Shaped(Row(1, Verdict::kUndecided, {}), "gather", "1x3x65x64"),
           Shaped(Row(2, Verdict::kPassed, 1), "unfold", "1x3x64x64"),
           Shaped(Row(3, Verdict::kUndecided, {}), "unfold", "1x3x65x64")}),
      2);
}

TEST(SweepRowTest, AnAxisIsFoundByNameAndEmptyOtherwise) {
  EXPECT_EQ(SampleRow(0).Axis("crop"), "roi_align");
  EXPECT_EQ(SampleRow(0).Axis("moon"), "");
}

TEST(SweepRowTest, AProviderRanNothingWhenNodesWereCountedAndNoneIsIts) {
  SweepRow row = SampleRow(0);
  EXPECT_FALSE(row.provider_ran_nothing());
  row.provider_nodes["DnnlExecutionProvider"] = 0;
  EXPECT_TRUE(row.provider_ran_nothing());
  row.provider_nodes.clear();  // unknown
  EXPECT_FALSE(row.provider_ran_nothing());
}

TEST(SweepRowTest, ShortAndLongNamesOfAProviderAreTheSame) {
  SweepRow row = SampleRow(0);
  row.axes = {{.axis = "provider", .value = "cpu"}};
  EXPECT_FALSE(row.provider_ran_nothing());
  row.provider_nodes = {{"DnnlExecutionProvider", 3}};
  EXPECT_TRUE(row.provider_ran_nothing());
  row.axes.clear();  // no provider was asked for
  EXPECT_FALSE(row.provider_ran_nothing());
}

}  // namespace
}  // namespace parity
