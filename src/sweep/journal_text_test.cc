#include "sweep/journal_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <format>
#include <string>
#include <string_view>

#include "base/version.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/sweep_row_json.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

JournalHeader Header() {
  return {.plan = "00ff",
          .title = "crop × provider",
          .row_count = 4,
          .shard = {.index = 1, .count = 2},
          .notes = {"a note"}};
}

std::string Line(std::size_t row) {
  return EncodeSweepRow(SampleRow(row)) + "\n";
}

std::string ErrorOf(std::string_view text) {
  const Result<JournalContents> contents = ParseJournal(text, "a.jsonl");
  return contents ? "" : contents.error().message;
}

TEST(JournalTextTest, TheFirstLineSaysWhatSweepItIs) {
  EXPECT_EQ(EncodeJournalHeader(Header()),
            std::format(
                R"({{"onnx_parity_sweep":1,"plan":"00ff","title":"crop × )"
                R"(provider","row_count":4,"shard":"1/2","tool_version":"{}",)"
                R"("notes":["a note"]}})"
                "\n",
                kVersion));
}

TEST(JournalTextTest, HeaderAndRowsAreReadBack) {
  const std::string text = EncodeJournalHeader(Header()) + Line(3) + Line(1);
  const Result<JournalContents> contents = ParseJournal(text, "a.jsonl");
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  EXPECT_EQ(contents->header.plan, "00ff");
  EXPECT_EQ(contents->header.title, "crop × provider");
  EXPECT_EQ(contents->header.row_count, 4U);
  EXPECT_EQ(contents->header.shard, (Shard{.index = 1, .count = 2}));
  EXPECT_THAT(contents->header.notes, ElementsAre("a note"));
  ASSERT_EQ(contents->rows.size(), 2U);
  EXPECT_EQ(contents->rows[0].index, 3U);
  EXPECT_EQ(contents->rows[1].index, 1U);
  EXPECT_THAT(contents->notes, IsEmpty());
  EXPECT_EQ(contents->whole_bytes, text.size());
}

TEST(JournalTextTest, ADamagedLastLineIsLeftOutAndSaid) {
  const std::string whole = EncodeJournalHeader(Header()) + Line(0);
  for (const std::string& torn :
       {std::string("{"), Line(1).substr(0, 40), Line(1).substr(0, 40) + "\n",
        std::string(300, '\0'), std::string("\n"),
        EncodeSweepRow(SampleRow(1))}) {
    const Result<JournalContents> contents =
        ParseJournal(whole + torn, "a.jsonl");
    ASSERT_TRUE(contents.has_value()) << contents.error().message;
    EXPECT_EQ(contents->rows.size(), 1U);
    EXPECT_EQ(contents->whole_bytes, whole.size());
    EXPECT_THAT(contents->notes,
                ElementsAre("a.jsonl: its last line is incomplete, as after a "
                            "kill; that row is left out"));
  }
}

TEST(JournalTextTest, ADamagedLineBeforeTheLastIsAnErrorWithItsNumber) {
  const std::string header = EncodeJournalHeader(Header());
  EXPECT_EQ(ErrorOf(header + Line(0) + "{}\n" + Line(1)),
            "a.jsonl: line 3: 'row' is missing or has no value it can have");
  EXPECT_EQ(ErrorOf(header + "\n" + Line(1)),
            "a.jsonl: line 2: not a JSON object");
  EXPECT_EQ(ErrorOf(header + Line(4) + Line(1)),
            "a.jsonl: line 2: row 4 of a sweep of 4 rows");
}

TEST(JournalTextTest, ARowThatIsThereTwiceCountsOnce) {
  SweepRow second = SampleRow(2);
  second.message = "later";
  const Result<JournalContents> contents = ParseJournal(
      EncodeJournalHeader(Header()) + Line(2) + EncodeSweepRow(second) + "\n",
      "a.jsonl");
  ASSERT_TRUE(contents.has_value()) << contents.error().message;
  ASSERT_EQ(contents->rows.size(), 1U);
  EXPECT_EQ(contents->rows[0].message, "");
  EXPECT_THAT(contents->notes,
              ElementsAre("a.jsonl: line 3 is row 2 once more; the first one "
                          "counts"));
}

TEST(JournalTextTest, WhatIsNoJournalIsSaidToBeNone) {
  for (const char* text : {"hello", "hello\n", "{}\n", "[1]\n", "\n"})
    EXPECT_EQ(ErrorOf(text), "a.jsonl: not the journal of a sweep") << text;
}

TEST(JournalTextTest, AnotherVersionOfTheFormatIsUnsupported) {
  const Result<JournalContents> contents =
      ParseJournal("{\"onnx_parity_sweep\":2}\n", "a.jsonl");
  ASSERT_FALSE(contents.has_value());
  EXPECT_EQ(contents.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(contents.error().message,
            "a.jsonl: a journal of format 2; this version of the tool reads "
            "format 1");
}

TEST(JournalTextTest, AnUnusableHeaderNamesTheKey) {
  const std::string header = EncodeJournalHeader(Header());
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = header;
    return ErrorOf(text.replace(text.find(from), from.size(), to));
  };
  const auto refused = [](std::string_view key) {
    return std::format("a.jsonl: its first line has no usable '{}'", key);
  };
  EXPECT_EQ(with("\"00ff\"", "7"), refused("plan"));
  EXPECT_EQ(with("\"title\"", "\"titel\""), refused("title"));
  EXPECT_EQ(with("\"row_count\":4", "\"row_count\":-4"), refused("row_count"));
  for (const char* shard : {"0/2", "3/2", "1", "1/", "/2", "1/2x", "a/b"})
    EXPECT_EQ(with("1/2", shard), refused("shard")) << shard;
  EXPECT_EQ(with("[\"a note\"]", "[3]"), refused("notes"));
  EXPECT_EQ(with("[\"a note\"]", "null"), refused("notes"));
}

TEST(JournalTextTest, OnlyTheStartOfAHeaderIsATornHeader) {
  const std::string header = EncodeJournalHeader(Header());
  for (std::size_t size = 0; size + 1 < header.size(); ++size)
    EXPECT_TRUE(IsTornHeader(header.substr(0, size))) << size;
  EXPECT_FALSE(IsTornHeader(header));
  EXPECT_FALSE(IsTornHeader("hello"));
  EXPECT_FALSE(IsTornHeader("{\"a\":1}"));
  EXPECT_FALSE(IsTornHeader("\n"));
  EXPECT_THAT(ErrorOf(header.substr(0, 30)),
              HasSubstr("a.jsonl: its first line is incomplete"));
}

TEST(JournalTextTest, EveryBitFlipIsReadOrRefused) {
  const std::string whole =
      EncodeJournalHeader(Header()) + Line(0) + Line(1) + Line(2);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string text = whole;
      text[i] = static_cast<char>(text[i] ^ (1 << bit));
      const Result<JournalContents> contents = ParseJournal(text, "a.jsonl");
      if (!contents) {
        EXPECT_FALSE(contents.error().message.contains('\n'));
        continue;
      }
      EXPECT_LE(contents->rows.size(), 3U);
      EXPECT_LE(contents->whole_bytes, text.size());
      for (const SweepRow& row : contents->rows)
        EXPECT_LT(row.index, contents->header.row_count);
    }
  }
}

}  // namespace
}  // namespace parity
