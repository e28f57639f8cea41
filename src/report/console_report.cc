#include "report/console_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"
#include "report/paint.h"
#include "report/text_table.h"

namespace parity {
namespace {

std::string Megabytes(std::int64_t bytes) {
  return std::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

// Position of a flat index: "0,0,312,44".
std::string Position(std::int64_t index, const Shape& shape) {
  if (index < 0 || shape.empty()) return "-";
  std::string text;
  for (const std::int64_t coordinate : UnravelIndex(index, shape))
    text += std::format("{}{}", text.empty() ? "" : ",", coordinate);
  return text;
}

std::string Limit(const Tolerance& tolerance) {
  return tolerance.rtol > 0
             ? std::format("{:g} + {:g}·|x|", tolerance.atol, tolerance.rtol)
             : std::format("{:g}", tolerance.atol);
}

std::string Outcome(const OutputResult& output, Colors colors) {
  if (!output.passed()) return Paint("FAIL", kRed, colors);
  if (output.excused_as_tie && output.comparison->mismatch_count > 0)
    return Paint("tie", kYellow, colors);
  if (output.comparison->element_count == 0)
    return Paint("nothing to compare", kYellow, colors);
  return Paint("ok", kGreen, colors);
}

std::string NonFinite(const NonFiniteCounts& counts) {
  return std::format("{} NaN, {} +inf, {} -inf", counts.nan,
                     counts.positive_infinity, counts.negative_infinity);
}

// "reference 5.7e-08, export 0.00047, runtime 4.8e-08": who moved.
std::string Budget(const OutputResult& output) {
  if (!output.budget || (!output.budget->exported && !output.budget->reference))
    return "";
  std::string legs;
  const auto add = [&](std::string_view name,
                       const std::optional<ErrorSize>& error) {
    if (!error) return;
    legs +=
        std::format("{}{} {:.3g}", legs.empty() ? "" : ", ", name, error->max);
    if (error->nonfinite_disagreements > 0)
      legs += std::format(" (and {} elements not finite on one side)",
                          error->nonfinite_disagreements);
    if (error->mismatches > 0)
      legs += std::format(" ({} elements differ)", error->mismatches);
  };
  add("reference", output.budget->reference);
  add("export", output.budget->exported);
  add("runtime", output.budget->runtime);
  return std::format("    {}: error of the {}; rounding explains {:.3g}\n",
                     output.name, legs, output.budget->noise_max);
}

// Lines below the table about one output; empty for most.
std::string Remarks(const OutputResult& output) {
  std::string text;
  for (const std::string& failure : output.contract_failures)
    text += std::format("    {}: {}\n", output.name, failure);
  if (!output.comparison) return text;
  const Comparison& comparison = *output.comparison;
  if (comparison.nonfinite_disagreements > 0) {
    text += std::format(
        "    {}: not finite on one side only at {} elements, first at {} "
        "(reference: {}; candidate: {})\n",
        output.name, comparison.nonfinite_disagreements,
        Position(comparison.first_nonfinite_disagreement, output.shape),
        NonFinite(comparison.expected_nonfinite),
        NonFinite(comparison.actual_nonfinite));
  } else if (comparison.expected_nonfinite.total() > 0) {
    text += std::format("    {}: {} on both sides, at the same places\n",
                        output.name, NonFinite(comparison.expected_nonfinite));
  }
  return text + Budget(output);
}

std::vector<std::string> Row(const OutputResult& output, Colors colors) {
  if (!output.comparison)
    return {
        output.name, ToString(output.shape), "-", "-", Limit(output.tolerance),
        "-",         Outcome(output, colors)};
  const Comparison& comparison = *output.comparison;
  const bool measured = comparison.compared_count > 0;
  return {output.name,
          ToString(output.shape),
          measured ? std::format("{:.3g}", comparison.max_abs_error) : "-",
          measured ? Position(comparison.max_abs_index, output.shape) : "-",
          Limit(output.tolerance),
          std::to_string(comparison.mismatch_count),
          Outcome(output, colors)};
}

std::string InputsLine(const std::vector<InputDescription>& inputs) {
  std::string text;
  for (const InputDescription& input : inputs) {
    text += std::format("{}{} {}", text.empty() ? "" : ", ", input.name,
                        ToString(input.shape));
  }
  const bool same =
      std::ranges::all_of(inputs, [&](const InputDescription& input) {
        return input.origin == inputs[0].origin;
      });
  if (inputs.empty()) return "no inputs";
  if (same) return std::format("{} ({})", text, inputs[0].origin);
  text.clear();
  for (const InputDescription& input : inputs) {
    text += std::format("{}{} {} ({})", text.empty() ? "" : ", ", input.name,
                        ToString(input.shape), input.origin);
  }
  return text;
}

std::string Repeats(const CaseResult& result) {
  const std::optional<double> steady = result.candidate_steady_ms();
  if (!steady) return "";
  return std::format(", then {:.1f} ms (median of {})", *steady,
                     result.candidate_repeat_ms.size());
}

std::string FormatCase(const CaseResult& result, Colors colors) {
  std::string text =
      std::format("\n{}: {}\n", result.name, InputsLine(result.inputs));
  if (result.error)
    text += std::format("  {} the candidate does not run: {}\n",
                        Paint("FAIL", kRed, colors), result.error->message);
  for (const std::string& failure : result.contract_failures) {
    text += std::format("  {} {}\n", Paint("FAIL", kRed, colors), failure);
  }
  if (result.outputs.empty()) return text;
  TextTable table(
      {"output", "shape", "max difference", "at", "limit", "mismatches", ""});
  for (const OutputResult& output : result.outputs)
    table.AddRow(Row(output, colors));
  text += table.Format(2);
  for (const OutputResult& output : result.outputs) text += Remarks(output);
  text += std::format(
      "  reference {:.0f} ms, candidate {:.0f} ms{}, comparison {:.0f} ms\n",
      result.reference_run_ms, result.candidate_run_ms, Repeats(result),
      result.compare_ms);
  return text;
}

std::string Side(std::string_view label, const SideDescription& side) {
  std::string more;
  if (side.cached) more += "; from the cache";
  for (const auto& [provider, count] : side.provider_nodes)
    more += std::format("; {} nodes by {}", count, provider);
  return std::format("{}  {}: {}{}{}\n", label, side.version, side.model,
                     side.kernels.empty() ? "" : "; " + side.kernels, more);
}

std::string FormatFinding(const Finding& finding, Colors colors) {
  std::string text = std::format(
      "{} {}\n",
      Paint(std::format("{} ({})", Name(finding.cause),
                        finding.confidence == Confidence::kCertain ? "certain"
                                                                   : "likely"),
            finding.fails ? kRed : kYellow, colors),
      finding.message);
  if (!finding.case_name.empty())
    text += std::format("  case: {}\n", finding.case_name);
  if (!finding.node.empty()) {
    text +=
        std::format("  node: {}{}{}\n", finding.node,
                    finding.op.empty() ? "" : " (" + finding.op + ")",
                    finding.module.empty() ? "" : ", module " + finding.module);
  }
  for (const Evidence& entry : finding.evidence)
    text += std::format("  {}: {}\n", entry.name, entry.value);
  return text;
}

std::string VerdictLine(const ValidationResult& result, Colors colors) {
  if (result.verdict() == Verdict::kPassed)
    return Paint("Validation passed.", kGreen, colors) + "\n";
  const std::vector<std::string> reasons = result.Reasons();
  const bool failed = result.verdict() == Verdict::kFailed;
  std::string text = Paint(failed ? "Validation failed:" : "Could not tell:",
                           failed ? kRed : kYellow, colors);
  if (reasons.size() == 1) return std::format("{} {}.\n", text, reasons[0]);
  constexpr std::size_t kShown = 8;
  text += "\n";
  for (std::size_t i = 0; i < std::min(kShown, reasons.size()); ++i)
    text += std::format("  {}\n", reasons[i]);
  if (reasons.size() > kShown)
    text += std::format("  … and {} more\n", reasons.size() - kShown);
  return text;
}

}  // namespace

std::string FormatFindings(const std::vector<Finding>& findings,
                           Colors colors) {
  std::string text;
  for (const Finding& finding : findings) {
    // Rounding that nobody asked about is no news.
    if (!finding.fails && finding.cause == Cause::kRounding &&
        finding.evidence.empty())
      continue;
    text += "\n" + FormatFinding(finding, colors);
  }
  return text;
}

std::string FormatConsoleReport(const ValidationResult& result, Colors colors) {
  std::string text =
      std::format("model      {} (opset {}, {})\n", result.model_path,
                  result.opset, Megabytes(result.model_bytes));
  text += Side("reference", result.reference);
  text += Side("candidate", result.candidate);
  for (const std::string& note : result.notes)
    text += std::format("{} {}\n", Paint("note", kYellow, colors), note);
  for (const CaseResult& entry : result.cases)
    text += FormatCase(entry, colors);
  text += FormatFindings(result.findings, colors);
  text += "\n" + VerdictLine(result, colors);
  return text;
}

}  // namespace parity
