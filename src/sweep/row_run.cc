#include "sweep/row_run.h"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"

namespace parity {
namespace {

// max |reference − candidate|; infinite where one side alone is not finite.
double DifferenceOf(const Comparison& comparison) {
  return comparison.nonfinite_disagreements > 0
             ? std::numeric_limits<double>::infinity()
             : comparison.max_abs_error;
}

void FindWorstOutput(const ValidationResult& result, SweepRow& row) {
  double worst = -1;
  for (const CaseResult& entry : result.cases) {
    for (const OutputResult& output : entry.outputs) {
      if (!output.comparison || output.comparison->element_count == 0) continue;
      const double difference = DifferenceOf(*output.comparison);
      const double limit = output.tolerance.atol;
      // What a tie excuses is no measure of the rest.
      if (output.excused_as_tie) continue;
      const double relative = limit > 0 ? difference / limit : difference;
      if (relative <= worst) continue;
      worst = relative;
      row.worst_output = output.name;
      row.worst_case = entry.name;
      row.worst_difference = difference;
      row.worst_limit = limit;
    }
  }
}

std::string MessageOf(const ValidationResult& result) {
  const std::vector<std::string> reasons = result.Reasons();
  std::string message = reasons.empty() ? "" : reasons.front();
  if (result.findings.empty()) return message;
  const Finding& finding = result.findings.front();
  if (!finding.fails && result.verdict() != Verdict::kUndecided) return message;
  // Each often quotes the other.
  if (finding.message.contains(message)) return finding.message;
  if (message.contains(finding.message)) return message;
  return message + "; " + finding.message;
}

void AddMeasurements(const ValidationResult& result, SweepRow& row) {
  row.runtime_version = result.candidate.version;
  row.peak_rss_bytes = result.candidate.peak_rss_bytes;
  row.provider_nodes = result.candidate.provider_nodes;
  if (!result.candidate.version.empty()) row.load_ms = result.candidate.load_ms;
  if (result.cases.empty() || result.cases.front().error) return;
  const CaseResult& first = result.cases.front();
  row.first_run_ms = first.candidate_run_ms;
  row.steady_run_ms = first.candidate_steady_ms();
  row.repeats = static_cast<std::int64_t>(first.candidate_repeat_ms.size());
}

}  // namespace

SweepRow RowOf(const PlannedRow& planned,
               const Result<ValidationResult>& result) {
  SweepRow row;
  row.index = planned.index;
  row.axes = planned.axes;
  row.command = planned.command;
  if (!result) {
    row.message = result.error().message;
    return row;
  }
  row.verdict = result->verdict();
  if (row.verdict != Verdict::kPassed) {
    row.cause = result->cause();
    row.message = MessageOf(*result);
  }
  FindWorstOutput(*result, row);
  AddMeasurements(*result, row);
  return row;
}

Result<SweepRow> RunRow(const PlannedRow& planned, NetworkExporter& exporter,
                        const std::function<void(std::string_view)>& progress) {
  const Stopwatch time;
  ValidationOptions options = planned.options;
  options.progress = progress;
  if (planned.exported) {
    progress("exporting");
    auto exported = exporter.Export(*planned.exported, options.reference);
    if (!exported) {
      if (exported.error().code == ErrorCode::kIo)
        return std::unexpected(std::move(exported).error());
      return RowOf(planned, std::unexpected(std::move(exported).error()));
    }
    options.model = *std::move(exported);
  }
  const Result<ValidationResult> result = Validate(options);
  if (!result && result.error().code == ErrorCode::kInterrupted)
    return std::unexpected(result.error());
  SweepRow row = RowOf(planned, result);
  row.total_ms = time.milliseconds();
  return row;
}

}  // namespace parity
