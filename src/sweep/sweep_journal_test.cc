#include "sweep/sweep_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/journal_text.h"
#include "sweep/sweep_row_json.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

JournalHeader Header() {
  return {.plan = "00ff",
          .title = "crop × provider",
          .row_count = 1000,
          .shard = {},
          .notes = {}};
}

std::string Line(std::size_t row) {
  return EncodeSweepRow(SampleRow(row)) + "\n";
}

class SweepJournalTest : public ::testing::Test {
 protected:
  Result<SweepJournal> Open(const JournalHeader& header = Header()) const {
    return SweepJournal::Open(path_, header);
  }
  Error OpenError(const JournalHeader& header = Header()) const {
    const Result<SweepJournal> journal = Open(header);
    EXPECT_FALSE(journal.has_value());
    return journal ? Error{} : journal.error();
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "sweep.jsonl";
};

TEST_F(SweepJournalTest, ANewFileHasAHeaderAndThenALineARow) {
  {
    Result<SweepJournal> journal = Open();
    ASSERT_TRUE(journal.has_value()) << journal.error().message;
    EXPECT_THAT(journal->rows(), IsEmpty());
    EXPECT_EQ(ReadText(path_), EncodeJournalHeader(Header()));
    ASSERT_TRUE(journal->Append(SampleRow(4)).has_value());
    ASSERT_TRUE(journal->Append(SampleRow(2)).has_value());
  }
  EXPECT_EQ(ReadText(path_), EncodeJournalHeader(Header()) + Line(4) + Line(2));
}

TEST_F(SweepJournalTest, AnExistingFileIsTakenUp) {
  JournalHeader first = Header();
  first.notes = {"of the first run"};
  {
    Result<SweepJournal> journal = Open(first);
    ASSERT_TRUE(journal.has_value()) << journal.error().message;
    ASSERT_TRUE(journal->Append(SampleRow(4)).has_value());
  }
  Result<SweepJournal> journal = Open();
  ASSERT_TRUE(journal.has_value()) << journal.error().message;
  ASSERT_THAT(journal->rows(), SizeIs(1));
  EXPECT_EQ(journal->rows()[0].index, 4U);
  EXPECT_EQ(journal->header().notes, first.notes);
  EXPECT_THAT(journal->notes(), IsEmpty());
  ASSERT_TRUE(journal->Append(SampleRow(5)).has_value());
  EXPECT_EQ(ReadText(path_), EncodeJournalHeader(first) + Line(4) + Line(5));
}

TEST_F(SweepJournalTest, CutAtAnyByteItGoesOnWithTheWholeRowsBeforeThat) {
  const std::string header = EncodeJournalHeader(Header());
  const std::string whole = header + Line(0) + Line(1);
  const std::size_t ends[] = {header.size(), header.size() + Line(0).size(),
                              whole.size()};
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    WriteText(path_, whole.substr(0, size));
    std::size_t rows = 0;
    while (rows + 1 < std::size(ends) && ends[rows + 1] <= size) ++rows;
    Result<SweepJournal> journal = Open();
    ASSERT_TRUE(journal.has_value()) << size << journal.error().message;
    ASSERT_THAT(journal->rows(), SizeIs(rows)) << size;
    const bool on_a_line = size <= ends[0] || size == ends[rows];
    EXPECT_THAT(journal->notes(), SizeIs(on_a_line ? 0 : 1)) << size;
    ASSERT_EQ(ReadText(path_), whole.substr(0, ends[rows])) << size;
    // Not after every byte: a disk takes its time to confirm.
    if (size % 32 != 0) continue;
    ASSERT_TRUE(journal->Append(SampleRow(5)).has_value());
    ASSERT_EQ(ReadText(path_), whole.substr(0, ends[rows]) + Line(5)) << size;
  }
}

TEST_F(SweepJournalTest, TheJournalOfAnotherSweepIsRefusedAndLeftAlone) {
  WriteText(path_, EncodeJournalHeader(Header()) + Line(0) + "{\"ro");
  const std::string before = ReadText(path_);
  JournalHeader other = Header();
  other.plan = "ff00";
  EXPECT_EQ(OpenError(other).code, ErrorCode::kIncompatible);
  EXPECT_EQ(OpenError(other).message,
            path_.string() +
                " belongs to another sweep (other flags, files or runtimes); "
                "give another --journal, or delete it");
  JournalHeader shard = Header();
  shard.shard = {.index = 2, .count = 3};
  EXPECT_EQ(OpenError(shard).code, ErrorCode::kIncompatible);
  EXPECT_THAT(OpenError(shard).message,
              HasSubstr(" belongs to shard 1/1 of this sweep, not 2/3; "));
  EXPECT_EQ(ReadText(path_), before);
}

TEST_F(SweepJournalTest, AFileThatIsNoJournalIsNeverOverwritten) {
  for (const char* text : {"my thesis", "my thesis\n", "{\"a\": 1}", "{}\n",
                           "{\"onnx_parity_sweep\":2}\n"}) {
    WriteText(path_, text);
    EXPECT_THAT(OpenError().message, HasSubstr(path_.string() + ": "));
    EXPECT_EQ(ReadText(path_), text);
  }
}

TEST_F(SweepJournalTest, ADamagedLineInTheMiddleIsAnErrorAndNothingIsCut) {
  const std::string text = EncodeJournalHeader(Header()) + Line(0) + "{}\n" +
                           Line(1) + Line(2).substr(0, 20);
  WriteText(path_, text);
  EXPECT_EQ(OpenError().code, ErrorCode::kCorrupt);
  EXPECT_THAT(OpenError().message, HasSubstr(": line 3: "));
  EXPECT_EQ(ReadText(path_), text);
}

TEST_F(SweepJournalTest, AJournalInUseIsRefused) {
  std::optional<Result<SweepJournal>> journal(Open());
  ASSERT_TRUE(journal->has_value()) << journal->error().message;
  EXPECT_EQ(OpenError().code, ErrorCode::kIo);
  EXPECT_EQ(OpenError().message,
            path_.string() +
                " is in use by another sweep; wait for it, or "
                "give another --journal");
  // Reading needs no lock.
  EXPECT_TRUE(ReadSweepJournal(path_).has_value());
  journal.reset();
  EXPECT_TRUE(Open().has_value());
}

TEST_F(SweepJournalTest, WhatCannotBeAJournalIsNamed) {
  EXPECT_EQ(SweepJournal::Open("/dev/null", Header()).error().message,
            "cannot write /dev/null: a journal must be a regular file");
  EXPECT_THAT(
      SweepJournal::Open(folder_ / "no/sweep.jsonl", Header()).error().message,
      EndsWith("no/sweep.jsonl: No such file or directory"));
  EXPECT_THAT(SweepJournal::Open(folder_ / "", Header()).error().message,
              EndsWith(": Is a directory"));
  EXPECT_EQ(ReadSweepJournal(folder_ / "none").error().code,
            ErrorCode::kNotFound);
  EXPECT_THAT(ReadSweepJournal(folder_ / "").error().message,
              EndsWith(": Is a directory"));
}

// Limits the size of files that this process writes, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) {
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  sighandler_t old_handler_ = nullptr;
};

TEST_F(SweepJournalTest, ARowThatDoesNotFitOnTheDiskLeavesNoTrace) {
  Result<SweepJournal> journal = Open();
  ASSERT_TRUE(journal.has_value()) << journal.error().message;
  ASSERT_TRUE(journal->Append(SampleRow(0)).has_value());
  const std::string before = ReadText(path_);
  {
    const FileSizeLimit limit(before.size() + 100);
    const Status status = journal->Append(SampleRow(1));
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kIo);
    EXPECT_EQ(status.error().message,
              "cannot write " + path_.string() + ": File too large");
    EXPECT_EQ(ReadText(path_), before);
  }
  ASSERT_TRUE(journal->Append(SampleRow(1)).has_value());
  EXPECT_EQ(ReadText(path_), before + Line(1));
}

TEST_F(SweepJournalTest, AHeaderThatDoesNotFitIsAnErrorAndTheNextOpenIsNew) {
  {
    const FileSizeLimit limit(20);
    EXPECT_THAT(OpenError().message, EndsWith(": File too large"));
  }
  EXPECT_EQ(ReadText(path_), "");
  EXPECT_TRUE(Open().has_value());
}

// Large enough that a kill can find a write half done.
SweepRow LargeRow(std::size_t index) {
  SweepRow row = SampleRow(index);
  row.message = std::string(200'000, 'x');
  return row;
}

// Never returns.
[[noreturn]] void AppendForever(const std::filesystem::path& path) {
  Result<SweepJournal> journal = SweepJournal::Open(path, Header());
  for (std::size_t row = 0; journal.has_value(); ++row) {
    if (!journal->Append(LargeRow(row % 1000))) break;
  }
  ::_exit(1);
}

TEST_F(SweepJournalTest, KilledAtAnyMomentItHoldsTheWholeRowsBeforeThat) {
  std::mt19937 random(1);
  std::size_t most_rows = 0;
  std::vector<std::string> lines;
  for (int round = 0; round < 50; ++round) {
    std::filesystem::remove(path_);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) AppendForever(path_);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << status;
    const Result<SweepJournal> journal = Open();
    ASSERT_TRUE(journal.has_value()) << journal.error().message;
    std::string expected = EncodeJournalHeader(Header());
    for (std::size_t row = 0; row < journal->rows().size(); ++row) {
      ASSERT_EQ(journal->rows()[row].index, row);
      while (lines.size() <= row)
        lines.push_back(EncodeSweepRow(LargeRow(lines.size())) + "\n");
      expected += lines[row];
    }
    ASSERT_TRUE(ReadText(path_) == expected) << "round " << round;
    most_rows = std::max(most_rows, journal->rows().size());
  }
  EXPECT_GT(most_rows, 0U) << "no child came to write anything";
}

}  // namespace
}  // namespace parity
