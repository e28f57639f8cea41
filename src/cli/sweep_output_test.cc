#include "cli/sweep_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

SweepResult With(std::vector<SweepRow> rows) {
  SweepResult result;
  result.rows = std::move(rows);
  return result;
}

ExitCode CodeOf(const std::string& require, const SweepResult& result) {
  SweepOutputFlags flags;
  flags.require = require;
  flags.csv = "-";
  Result<SweepOutput> output = SweepOutput::Open(flags);
  EXPECT_TRUE(output.has_value());
  ::testing::internal::CaptureStdout();
  const Result<ExitCode> code = output->Write(result, {});
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), StartsWith("row,"));
  return code.value();
}

TEST(SweepOutputTest, OneRowOrAllMustPass) {
  const SweepResult none = With({CrashedRow(0)});
  const SweepResult one = With({SampleRow(0), CrashedRow(1)});
  const SweepResult all = With({SampleRow(0), SampleRow(1)});
  EXPECT_EQ(CodeOf("any", none), ExitCode::kFailed);
  EXPECT_EQ(CodeOf("any", one), ExitCode::kPassed);
  EXPECT_EQ(CodeOf("any", all), ExitCode::kPassed);
  EXPECT_EQ(CodeOf("all", none), ExitCode::kFailed);
  EXPECT_EQ(CodeOf("all", one), ExitCode::kFailed);
  EXPECT_EQ(CodeOf("all", all), ExitCode::kPassed);
  EXPECT_EQ(CodeOf("any", {}), ExitCode::kFailed);
  EXPECT_EQ(CodeOf("all", {}), ExitCode::kFailed);
}

TEST(SweepOutputTest, APartWithoutRowsHasNothingThatCouldFail) {
  SweepResult empty;
  empty.row_count = 4;
  empty.shard = {.index = 5, .count = 9};
  EXPECT_EQ(CodeOf("any", empty), ExitCode::kPassed);
  EXPECT_EQ(CodeOf("all", empty), ExitCode::kPassed);
}

TEST(SweepOutputTest, TwoFormatsInOnePlaceAreRefused) {
  const TemporaryFolder folder;
  for (const std::filesystem::path& path :
       {std::filesystem::path("-"), folder / "x"}) {
    SweepOutputFlags flags;
    flags.json = path;
    flags.markdown = path;
    const Result<SweepOutput> output = SweepOutput::Open(flags);
    ASSERT_FALSE(output.has_value());
    EXPECT_EQ(output.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(output.error().message,
              path.string() + " is given for two formats");
  }
}

TEST(SweepOutputTest, AJournalIsNotReplacedByTheResult) {
  const TemporaryFolder folder;
  WriteText(folder / "a.jsonl", "x");
  SweepOutputFlags flags;
  flags.csv = folder / "./a.jsonl";
  EXPECT_EQ(
      CheckNotOverwritten(folder / "a.jsonl", flags).error().message,
      flags.csv.string() + " is the journal; give the result another name");
  flags.csv = folder / "b.csv";
  EXPECT_TRUE(CheckNotOverwritten(folder / "a.jsonl", flags).has_value());
  EXPECT_TRUE(CheckNotOverwritten(folder / "none", flags).has_value());
  flags.csv = folder / "x/../new.jsonl";
  EXPECT_FALSE(CheckNotOverwritten(folder / "new.jsonl", flags).has_value());
}

TEST(SweepOutputTest, AFileIsThereOnceItIsWrittenAndNotBefore) {
  const TemporaryFolder folder;
  SweepOutputFlags flags;
  flags.json = folder / "s.json";
  flags.csv = "-";
  {
    const Result<SweepOutput> output = SweepOutput::Open(flags);
    ASSERT_TRUE(output.has_value()) << output.error().message;
  }
  EXPECT_FALSE(std::filesystem::exists(flags.json));
  Result<SweepOutput> output = SweepOutput::Open(flags);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(output->Write(With({SampleRow(0)}), {"sweep"}).has_value());
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              StartsWith("row,replace,"));
  EXPECT_THAT(ReadText(flags.json), HasSubstr("\"sweep\""));
}

TEST(SweepOutputTest, AFullDiskIsAnError) {
  SweepOutputFlags flags;
  flags.json = "/dev/full";
  Result<SweepOutput> output = SweepOutput::Open(flags);
  ASSERT_TRUE(output.has_value()) << output.error().message;
  const Result<ExitCode> code = output->Write(With({SampleRow(0)}), {});
  ASSERT_FALSE(code.has_value());
  EXPECT_EQ(code.error().message,
            "cannot write /dev/full: No space left on device");
}

}  // namespace
}  // namespace parity
