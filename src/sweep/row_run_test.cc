#include "sweep/row_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"
#include "sweep/testing/sample_rows.h"

namespace parity {
namespace {

PlannedRow Planned() {
  PlannedRow row;
  row.index = 3;
  row.axes = {{.axis = "provider", .value = "CPUExecutionProvider"}};
  row.command = "onnx-parity export";
  return row;
}

OutputResult Output(std::string name, double difference, double atol) {
  OutputResult output;
  output.name = std::move(name);
  output.tolerance.atol = atol;
  Comparison comparison;
  comparison.element_count = comparison.compared_count = 10;
  comparison.max_abs_error = difference;
  comparison.mismatch_count = difference < atol ? 0 : 1;
  output.comparison = comparison;
  return output;
}

ValidationResult Passed() {
  ValidationResult result;
  result.candidate.version = "ONNX Runtime 1.21.0";
  result.candidate.load_ms = 300;
  result.candidate.peak_rss_bytes = 5'000'000;
  result.candidate.provider_nodes = {{"CPUExecutionProvider", 200}};
  CaseResult standard;
  standard.name = "standard";
  standard.outputs = {Output("pha", 1e-6, 0.005), Output("fgr", 2e-6, 0.005)};
  standard.candidate_run_ms = 400;
  standard.candidate_repeat_ms = {90, 80, 85};
  CaseResult image = standard;
  image.name = "image";
  image.outputs = {Output("pha", 3e-6, 0.001), Output("fgr", 4e-6, 0.005)};
  image.candidate_run_ms = 10;
  image.candidate_repeat_ms.clear();
  result.cases = {standard, image};
  return result;
}

TEST(RowOfTest, APassingValidationIsItsMeasurements) {
  const SweepRow row = RowOf(Planned(), Passed());
  EXPECT_EQ(row.index, 3U);
  EXPECT_EQ(row.command, "onnx-parity export");
  EXPECT_EQ(row.verdict, Verdict::kPassed);
  EXPECT_EQ(row.message, "");
  EXPECT_EQ(row.cause, std::nullopt);
  EXPECT_EQ(row.runtime_version, "ONNX Runtime 1.21.0");
  EXPECT_EQ(row.load_ms, 300.0);
  EXPECT_EQ(row.first_run_ms, 400.0);
  EXPECT_EQ(row.steady_run_ms, 85.0);
  EXPECT_EQ(row.repeats, 3);
  EXPECT_EQ(row.peak_rss_bytes, 5'000'000);
  EXPECT_EQ(row.provider_nodes.at("CPUExecutionProvider"), 200);
}

TEST(RowOfTest, TheWorstOutputIsTheOneClosestToItsLimit) {
  // fgr differs more, pha has the tighter limit.
  const SweepRow row = RowOf(Planned(), Passed());
  EXPECT_EQ(row.worst_output, "pha");
  EXPECT_EQ(row.worst_case, "image");
  EXPECT_EQ(row.worst_difference, 3e-6);
  EXPECT_EQ(row.worst_limit, 0.001);
}

TEST(RowOfTest, NothingIsWorseThanANumberOnOneSideAlone) {
  ValidationResult result = Passed();
  result.cases[0].outputs[1].comparison->nonfinite_disagreements = 1;
  result.cases[0].outputs[1].comparison->mismatch_count = 1;
  const SweepRow row = RowOf(Planned(), result);
  EXPECT_EQ(row.worst_output, "fgr");
  EXPECT_TRUE(std::isinf(row.worst_difference));
  EXPECT_EQ(row.verdict, Verdict::kFailed);
}

TEST(RowOfTest, WhatATieExcusesIsNotTheWorst) {
  ValidationResult result = Passed();
  result.cases[0].outputs[0] = Output("pha", 0.3, 0.005);
  result.cases[0].outputs[0].excused_as_tie = true;
  EXPECT_EQ(RowOf(Planned(), result).worst_difference, 3e-6);
}

TEST(RowOfTest, AFailureHasItsCauseAndItsReason) {
  ValidationResult result = Passed();
  result.cases[0].outputs[0] = Output("pha", 0.25, 0.005);
  Finding finding;
  finding.cause = Cause::kProvider;
  finding.message = "right on the CPU execution provider";
  result.findings = {finding};
  const SweepRow row = RowOf(Planned(), result);
  EXPECT_EQ(row.verdict, Verdict::kFailed);
  EXPECT_EQ(row.cause, Cause::kProvider);
  EXPECT_NE(row.message.find("pha differs by 0.25"), std::string::npos)
      << row.message;
  EXPECT_NE(row.message.find("right on the CPU"), std::string::npos);
}

TEST(RowOfTest, AFailureByRoundingSaysSo) {
  ValidationResult result = Passed();
  result.cases[0].outputs[0] = Output("pha", 0.006, 0.005);
  Finding finding;
  finding.cause = Cause::kRounding;
  finding.fails = false;
  finding.message = "an absolute tolerance of 0.02 would hold";
  result.findings = {finding};
  const SweepRow row = RowOf(Planned(), result);
  EXPECT_EQ(row.cause, Cause::kRounding);
  EXPECT_NE(row.message.find("tolerance of 0.02 would hold"), std::string::npos)
      << row.message;
}

TEST(RowOfTest, TheExportedFilesPlaceIsNotInTheMessage) {
  ValidationResult result;
  result.model_path = "/cache/scratch/x1/model.onnx";
  result.error =
      Error{.code = ErrorCode::kBackend,
            .message =
                "Load model from /cache/scratch/x1/model.onnx failed: "
                "/cache/scratch/x1/model.onnx"};
  PlannedRow planned = Planned();
  planned.exported.emplace();
  EXPECT_EQ(RowOf(planned, result).message,
            "Load model from model.onnx failed: model.onnx");
  planned.exported.reset();
  EXPECT_EQ(RowOf(planned, result).message, result.error->message);
}

TEST(RunRowTest, AFileThatIsGoneEndsTheSweepAndIsNoRow) {
  const TemporaryFolder folder;
  PlannedRow planned = Planned();
  planned.exported.emplace();
  planned.options.reference.checkpoint = folder / "gone.pth";
  NetworkExporter exporter(folder / "");
  const Result<SweepRow> row =
      RunRow(planned, exporter, [](std::string_view) {});
  ASSERT_FALSE(row.has_value());
  EXPECT_EQ(row.error().code, ErrorCode::kNotFound);
  EXPECT_NE(row.error().message.find("gone.pth is gone"), std::string::npos)
      << row.error().message;
}

TEST(RowOfTest, AModelThatDoesNotLoadHasNoTimes) {
  ValidationResult result;
  result.error = Error{.code = ErrorCode::kWorkerDied,
                       .message = "was killed by signal 6 (SIGABRT)"};
  Finding finding;
  finding.cause = Cause::kProvider;
  finding.message = "was killed by signal 6 (SIGABRT)";
  result.findings = {finding};
  const SweepRow row = RowOf(Planned(), result);
  EXPECT_EQ(row.verdict, Verdict::kUndecided);
  EXPECT_EQ(row.cause, Cause::kProvider);
  EXPECT_EQ(row.message, "was killed by signal 6 (SIGABRT)");
  EXPECT_EQ(row.load_ms, std::nullopt);
  EXPECT_EQ(row.first_run_ms, std::nullopt);
  EXPECT_EQ(row.worst_output, "");
}

TEST(RowOfTest, AModelThatLoadsButDoesNotRunHasItsLoadTime) {
  ValidationResult result = Passed();
  result.cases.resize(1);
  result.cases[0].outputs.clear();
  result.cases[0].error =
      Error{.code = ErrorCode::kBackend, .message = "no kernel"};
  result.error = result.cases[0].error;
  const SweepRow row = RowOf(Planned(), result);
  EXPECT_EQ(row.load_ms, 300.0);
  EXPECT_EQ(row.first_run_ms, std::nullopt);
}

TEST(RowOfTest, AnErrorIsARowThatCouldNotTell) {
  const SweepRow row = RowOf(
      Planned(), Fail(ErrorCode::kNotFound, "the reference is not there"));
  EXPECT_EQ(row.verdict, Verdict::kUndecided);
  EXPECT_EQ(row.message, "the reference is not there");
  EXPECT_EQ(row.axes, Planned().axes);
}

}  // namespace
}  // namespace parity
