#include "sweep/sweep_row_json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

constexpr std::string_view kSampleLine =
    R"({"row":7,"axes":{"replace":"scatter_nd","crop":"roi_align",)"
    R"("provider":"DnnlExecutionProvider"},"provider":"DnnlExecutionProvider",)"
    R"("verdict":"passed","cause":null,"message":"",)"
    R"("worst":{"output":"pha","case":"standard",)"
    R"("difference":3.3333333333333335e-07,"limit":0.005},)"
    R"("runtime_version":"ONNX Runtime 1.21.0","load_ms":350.25,)"
    R"("first_run_ms":512.1,"steady_run_ms":68.0,"repeats":5,)"
    R"("peak_rss_bytes":412000000,"provider_nodes":{"CPUExecutionProvider":210,)"
    R"("DnnlExecutionProvider":53},"provider_ran_nothing":false,)"
    R"("total_ms":2345.6,"command":"onnx-parity export --output model.onnx\n)"
    R"(onnx-parity validate model.onnx --provider DnnlExecutionProvider"})";

TEST(SweepRowJsonTest, ARowIsOneLineWithTheseKeys) {
  EXPECT_EQ(EncodeSweepRow(SampleRow(7)), kSampleLine);
}

TEST(SweepRowJsonTest, WhatNeverRanIsNull) {
  EXPECT_EQ(
      EncodeSweepRow(CrashedRow(0)),
      R"({"row":0,"axes":{"replace":"scatter_nd","crop":"gather",)"
      R"("provider":"XnnpackExecutionProvider"},)"
      R"("provider":"XnnpackExecutionProvider","verdict":"error",)"
      R"("cause":"load","message":"the worker died of signal 6 (Aborted) )"
      R"(while loading","worst":null,"runtime_version":"","load_ms":null,)"
      R"("first_run_ms":null,"steady_run_ms":null,"repeats":0,)"
      R"("peak_rss_bytes":0,"provider_nodes":{},"provider_ran_nothing":false,)"
      R"("total_ms":900.0,"command":"onnx-parity validate model.onnx"})");
}

void ExpectSame(const SweepRow& actual, const SweepRow& expected) {
  EXPECT_EQ(actual.index, expected.index);
  EXPECT_EQ(actual.axes, expected.axes);
  EXPECT_EQ(actual.verdict, expected.verdict);
  EXPECT_EQ(actual.cause, expected.cause);
  EXPECT_EQ(actual.message, expected.message);
  EXPECT_EQ(actual.worst_output, expected.worst_output);
  EXPECT_EQ(actual.worst_case, expected.worst_case);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(actual.worst_difference),
            std::bit_cast<std::uint64_t>(expected.worst_difference));
  EXPECT_EQ(actual.worst_limit, expected.worst_limit);
  EXPECT_EQ(actual.runtime_version, expected.runtime_version);
  EXPECT_EQ(actual.load_ms, expected.load_ms);
  EXPECT_EQ(actual.first_run_ms, expected.first_run_ms);
  EXPECT_EQ(actual.steady_run_ms, expected.steady_run_ms);
  EXPECT_EQ(actual.repeats, expected.repeats);
  EXPECT_EQ(actual.peak_rss_bytes, expected.peak_rss_bytes);
  EXPECT_EQ(actual.provider_nodes, expected.provider_nodes);
  EXPECT_EQ(actual.total_ms, expected.total_ms);
  EXPECT_EQ(actual.command, expected.command);
}

TEST(SweepRowJsonTest, WhatIsWrittenIsReadBackBitByBit) {
  SweepRow row = SampleRow(std::size_t{1} << 40);
  for (const double value :
       {0.1, 1.0 / 3, 5e-324, -0.0, 1.7976931348623157e308, 123456789.125,
        std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()}) {
    row.worst_difference = value;
    if (!std::isnan(value)) row.steady_run_ms = value;
    const Result<SweepRow> read = DecodeSweepRow(EncodeSweepRow(row));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ExpectSame(*read, row);
  }
  const Result<SweepRow> crashed =
      DecodeSweepRow(EncodeSweepRow(CrashedRow(3)));
  ASSERT_TRUE(crashed.has_value()) << crashed.error().message;
  ExpectSame(*crashed, CrashedRow(3));
}

TEST(SweepRowJsonTest, EveryVerdictCauseAndTextComesBack) {
  for (const Verdict verdict :
       {Verdict::kPassed, Verdict::kFailed, Verdict::kUndecided}) {
    for (int cause = 0; cause <= static_cast<int>(Cause::kNondeterministic);
         ++cause) {
      SweepRow row = SampleRow(1);
      row.verdict = verdict;
      row.cause = static_cast<Cause>(cause);
      row.message = "a \"quote\", a \\, a tab\t, a line\nend, × and \x01";
      const std::string line = EncodeSweepRow(row);
      EXPECT_EQ(line.find('\n'), std::string::npos);
      const Result<SweepRow> read = DecodeSweepRow(line);
      ASSERT_TRUE(read.has_value()) << read.error().message;
      ExpectSame(*read, row);
    }
  }
}

// The sample with one part of its text replaced.
std::string ErrorWith(std::string_view from, std::string_view to) {
  std::string line(kSampleLine);
  const std::size_t at = line.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  const Result<SweepRow> row =
      DecodeSweepRow(line.replace(at, from.size(), to));
  return row ? "" : row.error().message;
}

TEST(SweepRowJsonTest, TheFirstUnusableKeyIsNamed) {
  const auto refused = [](std::string_view key) {
    return "'" + std::string(key) + "' is missing or has no value it can have";
  };
  EXPECT_EQ(ErrorWith("\"row\":7", "\"row\":-7"), refused("row"));
  EXPECT_EQ(ErrorWith("\"row\":7", "\"row\":7.5"), refused("row"));
  EXPECT_EQ(ErrorWith("\"row\":7", "\"row\":18446744073709551615"),
            refused("row"));
  EXPECT_EQ(ErrorWith("\"row\":7,", ""), refused("row"));
  EXPECT_EQ(ErrorWith("\"scatter_nd\"", "3"), refused("axes"));
  EXPECT_EQ(ErrorWith("\"passed\"", "\"fine\""), refused("verdict"));
  EXPECT_EQ(ErrorWith("\"cause\":null", "\"cause\":\"moon\""),
            refused("cause"));
  EXPECT_EQ(ErrorWith("\"cause\":null", "\"cause\":[]"), refused("cause"));
  EXPECT_EQ(ErrorWith("0.005", "\"small\""), refused("worst.limit"));
  EXPECT_EQ(ErrorWith("\"load_ms\":350.25,", ""), refused("load_ms"));
  EXPECT_EQ(ErrorWith("350.25", "\"fast\""), refused("load_ms"));
  EXPECT_EQ(ErrorWith("412000000", "-1"), refused("peak_rss_bytes"));
  EXPECT_EQ(ErrorWith(":53", ":\"53\""), refused("provider_nodes"));
  EXPECT_EQ(ErrorWith("2345.6", "null"), refused("total_ms"));
  EXPECT_EQ(ErrorWith("2345.6", "1e999"), "not a JSON object");
  EXPECT_EQ(ErrorWith("{\"row\"", "[\"row\""), "not a JSON object");
}

TEST(SweepRowJsonTest, UnknownKeysAreIgnored) {
  EXPECT_EQ(ErrorWith("\"row\":7,", "\"row\":7,\"moon\":[1,{}],"), "");
}

TEST(SweepRowJsonTest, EveryTruncationIsAnError) {
  for (std::size_t size = 0; size < kSampleLine.size(); ++size)
    EXPECT_FALSE(DecodeSweepRow(kSampleLine.substr(0, size)).has_value());
  EXPECT_TRUE(DecodeSweepRow(kSampleLine).has_value());
}

TEST(SweepRowJsonTest, EveryBitFlipIsReadOrRefused) {
  for (std::size_t i = 0; i < kSampleLine.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string line(kSampleLine);
      line[i] = static_cast<char>(line[i] ^ (1 << bit));
      if (const Result<SweepRow> row = DecodeSweepRow(line)) {
        // What it took for a row can be written and read once more.
        const Result<SweepRow> again = DecodeSweepRow(EncodeSweepRow(*row));
        EXPECT_TRUE(again.has_value()) << line;
      }
    }
  }
}

}  // namespace
}  // namespace parity
