#include "sweep/row_run.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/measurement_lock.h"
#include "base/status_macros.h"
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
  // The one that gives the row its cause.
  const Finding& finding = result.findings.front();
  // Each often quotes the other.
  if (finding.message.contains(message)) return finding.message;
  if (message.contains(finding.message)) return message;
  return message + "; " + finding.message;
}

// Of the files that every row needs, one that is no longer there; or empty.
std::filesystem::path MissingFile(const ValidationOptions& options,
                                  bool exported) {
  std::vector<std::filesystem::path> needed = options.cases.inputs;
  if (!exported) needed.push_back(options.model);
  for (const auto& [input, path] : options.cases.images) needed.push_back(path);
  for (const std::filesystem::path& path :
       {options.reference.checkpoint, options.reference.torchscript,
        options.reference.recorded}) {
    if (!path.empty()) needed.push_back(path);
  }
  for (std::filesystem::path& path : needed) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return std::move(path);
  }
  return {};
}

// Nothing for an error that belongs to the row.
Status CheckStillThere(const PlannedRow& planned) {
  const std::filesystem::path missing =
      MissingFile(planned.options, planned.exported.has_value());
  if (missing.empty()) return {};
  return Fail(ErrorCode::kNotFound,
              std::format("{} is gone; the rows that were finished before are "
                          "kept",
                          missing.string()));
}

// The exported file's place says nothing to the user, and is another one each
// time.
void HidePlace(const std::filesystem::path& place, std::string& message) {
  const std::string text = place.string();
  if (text.empty()) return;
  const std::string name = place.filename().string();
  for (std::size_t at = message.find(text); at != std::string::npos;
       at = message.find(text, at + name.size()))
    message.replace(at, text.size(), name);
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

Result<std::filesystem::path> ExportAlone(
    const PlannedRow& planned, NetworkExporter& exporter,
    const std::function<void(std::string_view)>& progress) {
  // It would disturb what another process measures.
  PARITY_ASSIGN_OR_RETURN(
      const MeasurementLock lock,
      MeasurementLock::Take(planned.options.interrupted, [&] {
        progress("waiting for another measurement on this machine");
      }));
  progress("exporting");
  return exporter.Export(*planned.exported, planned.options.reference);
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
    if (planned.exported) HidePlace(result->model_path, row.message);
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
    auto exported = ExportAlone(planned, exporter, progress);
    if (!exported) {
      if (exported.error().code == ErrorCode::kIo ||
          exported.error().code == ErrorCode::kInterrupted)
        return std::unexpected(std::move(exported).error());
      PARITY_RETURN_IF_ERROR(CheckStillThere(planned));
      return RowOf(planned, std::unexpected(std::move(exported).error()));
    }
    options.model = *std::move(exported);
  }
  const Result<ValidationResult> result = Validate(options);
  if (!result && result.error().code == ErrorCode::kInterrupted)
    return std::unexpected(result.error());
  if (!result || result->error)
    PARITY_RETURN_IF_ERROR(CheckStillThere(planned));
  SweepRow row = RowOf(planned, result);
  row.total_ms = time.milliseconds();
  return row;
}

}  // namespace parity
