#include "report/json_report.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_number.h"
#include "base/version.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return JsonNumber<Json>(value); }

Json ToJson(const NonFiniteCounts& counts) {
  return {{"nan", counts.nan},
          {"positive_infinity", counts.positive_infinity},
          {"negative_infinity", counts.negative_infinity}};
}

// Position of a flat index, one entry an axis; null when there is none.
Json Position(std::int64_t index, const Shape& shape) {
  if (index < 0) return nullptr;
  return UnravelIndex(index, shape);
}

Json ToJson(const Comparison& comparison, const Shape& shape) {
  return {{"element_count", comparison.element_count},
          {"mismatch_count", comparison.mismatch_count},
          {"max_abs_error", Number(comparison.max_abs_error)},
          {"max_abs_position", Position(comparison.max_abs_index, shape)},
          {"expected_at_max", Number(comparison.expected_at_max)},
          {"actual_at_max", Number(comparison.actual_at_max)},
          {"max_rel_error", Number(comparison.max_rel_error)},
          {"mean_error", Number(comparison.mean_error)},
          {"mean_abs_error", Number(comparison.mean_abs_error)},
          {"rms_error", Number(comparison.rms_error)},
          {"expected_rms", Number(comparison.expected_rms)},
          {"max_abs_expected", Number(comparison.max_abs_expected)},
          {"first_mismatch", Position(comparison.first_mismatch, shape)},
          {"expected_nonfinite", ToJson(comparison.expected_nonfinite)},
          {"actual_nonfinite", ToJson(comparison.actual_nonfinite)},
          {"nonfinite_disagreements", comparison.nonfinite_disagreements}};
}

Json ToJson(const ErrorSize& error) {
  return {{"rms", Number(error.rms)},
          {"max", Number(error.max)},
          {"nonfinite_disagreements", error.nonfinite_disagreements},
          {"mismatches", error.mismatches}};
}

Json ToJson(const std::optional<ErrorSize>& error) {
  return error ? ToJson(*error) : Json(nullptr);
}

std::string_view Name(NoiseVerdict verdict) {
  switch (verdict) {
    case NoiseVerdict::kWithin:
      return "within";
    case NoiseVerdict::kBeyond:
      return "beyond";
    case NoiseVerdict::kUnknown:
      break;
  }
  return "unknown";
}

Json ToJson(const ErrorBudget& budget) {
  return {{"noise", Name(budget.verdict)},
          {"times_noise", Number(budget.TimesNoise())},
          {"noise_rms", Number(budget.noise_rms)},
          {"noise_max", Number(budget.noise_max)},
          {"scale_rms", Number(budget.scale_rms)},
          {"scale_max", Number(budget.scale_max)},
          {"total", ToJson(budget.total)},
          {"reference_error", ToJson(budget.reference)},
          {"export_error", ToJson(budget.exported)},
          {"runtime_error", ToJson(budget.runtime)}};
}

Json TextOrNull(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json ToJson(const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& entry : finding.evidence)
    evidence.push_back({{"name", entry.name}, {"value", entry.value}});
  return {{"cause", Name(finding.cause)},
          {"confidence",
           finding.confidence == Confidence::kCertain ? "certain" : "likely"},
          {"fails", finding.fails},
          {"message", finding.message},
          {"case", TextOrNull(finding.case_name)},
          {"outputs", finding.outputs},
          {"node", TextOrNull(finding.node)},
          {"op", TextOrNull(finding.op)},
          {"module", TextOrNull(finding.module)},
          {"evidence", std::move(evidence)}};
}

// What the most important finding says, for those who want one word.
void AddCause(const std::vector<Finding>& findings, Json& json) {
  json["cause"] =
      findings.empty() ? Json(nullptr) : Json(Name(findings.front().cause));
  json["node"] =
      findings.empty() ? Json(nullptr) : TextOrNull(findings.front().node);
  json["module"] =
      findings.empty() ? Json(nullptr) : TextOrNull(findings.front().module);
  json["findings"] = Json::array();
  for (const Finding& finding : findings)
    json["findings"].push_back(ToJson(finding));
}

Json ToJson(const OutputResult& output) {
  return {{"name", output.name},
          {"passed", output.passed()},
          {"dtype", output.dtype},
          {"shape", output.shape},
          {"tolerance",
           {{"atol", Number(output.tolerance.atol)},
            {"rtol", Number(output.tolerance.rtol)}}},
          {"contract_failures", output.contract_failures},
          {"comparison", output.comparison
                             ? ToJson(*output.comparison, output.shape)
                             : Json(nullptr)},
          {"tie", output.excused_as_tie},
          {"budget", output.budget ? ToJson(*output.budget) : Json(nullptr)}};
}

Json ToJson(const CaseResult& result) {
  Json inputs = Json::array();
  for (const InputDescription& input : result.inputs) {
    inputs.push_back({{"name", input.name},
                      {"dtype", input.dtype},
                      {"shape", input.shape},
                      {"origin", input.origin}});
  }
  Json outputs = Json::array();
  for (const OutputResult& output : result.outputs)
    outputs.push_back(ToJson(output));
  return {{"name", result.name},
          {"passed", result.passed()},
          {"inputs", std::move(inputs)},
          {"error", result.error ? Json(result.error->message) : Json(nullptr)},
          {"contract_failures", result.contract_failures},
          {"outputs", std::move(outputs)},
          {"reference_run_ms", Number(result.reference_run_ms)},
          {"candidate_run_ms", Number(result.candidate_run_ms)},
          {"candidate_repeat_ms", result.candidate_repeat_ms},
          {"compare_ms", Number(result.compare_ms)}};
}

Json ToJson(const SideDescription& side) {
  Json object = {{"version", side.version},
                 {"model", side.model},
                 {"kernels", side.kernels},
                 {"cached", side.cached},
                 {"load_ms", Number(side.load_ms)},
                 {"peak_rss_bytes", side.peak_rss_bytes}};
  if (!side.provider_nodes.empty())
    object["provider_nodes"] = side.provider_nodes;
  return object;
}

Json Header(std::string_view verdict, const ValidationOptions& options,
            const std::vector<std::string>& command_line) {
  return {{"schema_version", kJsonSchemaVersion},
          {"verdict", verdict},
          {"tool", {{"name", "onnx-parity"}, {"version", kVersion}}},
          {"command_line", command_line},
          {"options",
           {{"provider", options.runtime.provider},
            {"optimization", options.runtime.optimization},
            {"runtime_library", options.runtime.library.string()},
            {"threads", options.runtime.threads},
            {"reference_kernels", options.reference.kernels},
            {"seed", options.cases.seed},
            {"atol", Number(options.tolerance.atol)},
            {"rtol", Number(options.tolerance.rtol)},
            {"output_atol", options.output_atol},
            {"output_rtol", options.output_rtol},
            {"criterion",
             options.criterion == Criterion::kNoise ? "noise" : "max-diff"},
            {"strict_ties", options.strict_ties},
            {"timeout_ms", options.limits.timeout.count()},
            {"memory_limit_bytes", options.limits.memory_bytes}}}};
}

std::string Text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string FormatJsonReport(const ValidationResult& result,
                             const ValidationOptions& options,
                             const std::vector<std::string>& command_line) {
  Json json = Header(Name(result.verdict()), options, command_line);
  json["reasons"] = result.Reasons();
  if (result.error) json["error"] = result.error->message;
  AddCause(result.findings, json);
  json["model"] = {{"path", result.model_path},
                   {"sha256", result.model_sha256},
                   {"bytes", result.model_bytes},
                   {"opset", result.opset}};
  json["weights_sha256"] = result.weights_sha256.empty()
                               ? Json(nullptr)
                               : Json(result.weights_sha256);
  json["reference"] = ToJson(result.reference);
  json["candidate"] = ToJson(result.candidate);
  json["notes"] = result.notes;
  json["cases"] = Json::array();
  for (const CaseResult& entry : result.cases)
    json["cases"].push_back(ToJson(entry));
  json["explain_ms"] = Number(result.explain_ms);
  json["total_ms"] = Number(result.total_ms);
  return Text(json);
}

std::string FormatJsonError(const Error& error,
                            const ValidationOptions& options,
                            const std::vector<std::string>& command_line) {
  Json json = Header(Name(Verdict::kUndecided), options, command_line);
  json["model"] = {{"path", options.model.string()}};
  json["reasons"] = {error.message};
  AddCause({}, json);
  json["error"] = error.message;
  return Text(json);
}

std::string FormatJsonRuntimes(const std::vector<RuntimeReport>& reports) {
  Json json = {{"schema_version", kJsonSchemaVersion},
               {"runtimes", Json::array()}};
  for (const RuntimeReport& entry : reports) {
    Json report = Json::parse(entry.report);
    report["runtime"] = entry.runtime;
    json["runtimes"].push_back(std::move(report));
  }
  return Text(json);
}

}  // namespace parity
