#include "report/sweep_csv.h"

#include <cmath>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "report/sweep_words.h"

namespace parity {
namespace {

// As in the JSON report.
std::string Number(double value) {
  if (std::isnan(value)) return "NaN";
  return std::format("{}", value);
}

std::string Number(const std::optional<double>& value) {
  return value ? Number(*value) : "";
}

std::string Nodes(const SweepRow& row) {
  std::string text;
  for (const auto& [provider, count] : NodesOf(row))
    text += std::format("{}{}={}", text.empty() ? "" : ";", provider, count);
  return text;
}

std::string Quoted(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(field);
  std::string quoted = "\"";
  for (const char character : field) {
    if (character == '"') quoted += '"';
    quoted += character;
  }
  return quoted + "\"";
}

std::string Line(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields)
    line += (&field == fields.data() ? "" : ",") + Quoted(field);
  return line + "\r\n";
}

std::vector<std::string> Fields(const SweepRow& row,
                                const std::vector<std::string>& axes) {
  std::vector<std::string> fields = {std::to_string(row.index)};
  for (const std::string& axis : axes) fields.emplace_back(row.Axis(axis));
  const bool compared = !row.worst_output.empty();
  fields.insert(
      fields.end(),
      {std::string(Name(row.verdict)),
       std::string(row.cause ? Name(*row.cause) : ""), row.message,
       row.worst_output, row.worst_case,
       compared ? Number(row.worst_difference) : "",
       compared ? Number(row.worst_limit) : "", row.runtime_version,
       Number(row.load_ms), Number(row.first_run_ms), Number(row.steady_run_ms),
       std::to_string(row.repeats),
       row.peak_rss_bytes == 0 ? "" : std::to_string(row.peak_rss_bytes),
       Nodes(row), row.provider_ran_nothing() ? "true" : "false",
       Number(row.total_ms), row.command});
  return fields;
}

}  // namespace

std::string FormatSweepCsv(const SweepResult& result) {
  const std::vector<std::string> axes = AxesOf(result.rows);
  std::vector<std::string> header = {"row"};
  header.insert(header.end(), axes.begin(), axes.end());
  header.insert(
      header.end(),
      {"verdict", "cause", "message", "worst_output", "worst_case",
       "worst_difference", "worst_limit", "runtime_version", "load_ms",
       "first_run_ms", "steady_run_ms", "repeats", "peak_rss_bytes",
       "provider_nodes", "provider_ran_nothing", "total_ms", "command"});
  std::string text = Line(header);
  for (const SweepRow& row : result.rows) text += Line(Fields(row, axes));
  return text;
}

}  // namespace parity
