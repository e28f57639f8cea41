#include "report/sweep_words.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "parity/diagnosis.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "report/text_table.h"

namespace parity {
namespace {

constexpr std::size_t kCellColumns = 40;
constexpr std::size_t kMessageColumns = 400;
constexpr std::size_t kShownMessages = 20;

// Three digits or so: "0.25", "61.0", "1234".
std::string Milliseconds(double value) {
  if (!std::isfinite(value)) return std::format("{}", value);
  if (value < 1) return std::format("{:.2g}", value);
  if (value < 10) return std::format("{:.2f}", value);
  return value < 1000 ? std::format("{:.1f}", value)
                      : std::format("{:.0f}", value);
}

std::string Milliseconds(const std::optional<double>& value) {
  return value ? Milliseconds(*value) : "-";
}

std::string Megabytes(std::int64_t bytes) {
  return bytes == 0 ? "-"
                    : std::format("{:.0f}", static_cast<double>(bytes) / 1e6);
}

std::string Duration(double milliseconds) {
  const double seconds = milliseconds / 1000;
  return seconds < 120 ? std::format("{:.1f} s", seconds)
                       : std::format("{:.0f} min", seconds / 60);
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string Worst(const SweepRow& row) {
  if (row.worst_output.empty()) return "-";
  const std::string name = Shortened(row.worst_output, kCellColumns);
  return std::isnan(row.worst_difference)
             ? name + " NaN"
             : std::format("{} {:.3g}", name, row.worst_difference);
}

std::string Nodes(const SweepRow& row) {
  std::vector<std::string> parts;
  if (row.provider_ran_nothing()) {
    parts.push_back(
        Shortened(ShortProvider(row.Axis("provider")), kCellColumns) +
        " ran nothing");
  }
  for (const auto& [provider, count] : NodesOf(row))
    parts.push_back(
        std::format("{} {}", Shortened(provider, kCellColumns), count));
  return parts.empty() ? "-" : Joined(parts);
}

// "crop roi_align, provider cpu".
std::string InWords(const std::vector<AxisValue>& axes) {
  std::vector<std::string> parts;
  parts.reserve(axes.size());
  for (const AxisValue& entry : axes)
    parts.push_back(Printable(entry.axis) + " " + Printable(entry.value));
  return Joined(parts);
}

// By the axes that tell it from the others, a shape aside, which is nothing to
// ship; by all of them when none does.
std::string InWords(const SweepRow& row, const std::vector<SweepRow>& rows) {
  SweepAxisSplit split = SplitAxes(rows);
  std::erase(split.varying, "shape");
  std::vector<AxisValue> axes = row.axes;
  if (!split.varying.empty()) {
    std::erase_if(axes, [&](const AxisValue& entry) {
      return !std::ranges::contains(split.varying, entry.axis);
    });
  }
  return axes.empty() ? std::format("row {}", row.index) : InWords(axes);
}

// Of the runtimes, each once.
std::string Versions(const std::vector<SweepRow>& rows) {
  std::vector<std::string> versions;
  for (const SweepRow& row : rows) {
    std::string version = Printable(row.runtime_version);
    if (!version.empty() && !std::ranges::contains(versions, version))
      versions.push_back(std::move(version));
  }
  return Joined(versions);
}

// "Row 3: 61.0 ms a run, …."
std::string Numbers(const SweepRow& row) {
  std::vector<std::string> parts;
  if (row.steady_run_ms)
    parts.push_back(Milliseconds(*row.steady_run_ms) + " ms a run");
  if (row.load_ms) parts.push_back(Milliseconds(*row.load_ms) + " ms to load");
  if (row.peak_rss_bytes > 0)
    parts.push_back(Megabytes(row.peak_rss_bytes) + " MB at most");
  if (!row.worst_output.empty()) {
    parts.push_back(
        std::format("{} at worst (limit {:g})", Worst(row), row.worst_limit));
  }
  return std::format("Row {}{}{}.", row.index, parts.empty() ? "" : ": ",
                     Joined(parts));
}

// Whether rows that differ in nothing but their shape passed, too. Nothing
// where there is one shape.
std::optional<std::string> AboutOtherShapes(const std::vector<SweepRow>& rows,
                                            const SweepRow& shipped) {
  std::vector<std::string> passed;
  std::vector<std::string> other;
  for (const SweepRow& row : rows) {
    const bool same =
        std::ranges::all_of(shipped.axes, [&](const AxisValue& entry) {
          return entry.axis == "shape" || row.Axis(entry.axis) == entry.value;
        });
    if (!same) continue;
    (row.verdict == Verdict::kPassed ? passed : other)
        .push_back(Printable(row.Axis("shape")));
  }
  if (!other.empty())
    return std::format("It did NOT pass at shape {}.", Joined(other));
  if (passed.size() < 2) return std::nullopt;
  return std::format("It passed at all {} shapes; this one took longest.",
                     passed.size());
}

// Why the row that is listed first, of those with its shape, is not the one to
// ship.
std::optional<std::string> AboutTheFastest(const SweepResult& result,
                                           const SweepRow& shipped) {
  const auto passed = [&](const SweepRow& row) {
    return row.verdict == Verdict::kPassed &&
           row.Axis("shape") == shipped.Axis("shape");
  };
  const auto first = std::ranges::find_if(result.rows, passed);
  if (first->index == shipped.index) return std::nullopt;
  if (first->provider_ran_nothing() && !shipped.provider_ran_nothing()) {
    return std::format(
        "Row {} is faster, but its provider ran no node: its time is that of "
        "another one.",
        first->index);
  }
  if (std::ranges::contains(SplitAxes(result.rows).varying, "shape")) {
    return std::format(
        "Row {} is faster at this shape, but not the better one over all "
        "shapes.",
        first->index);
  }
  return std::format("Row {} is faster by no more than measurements vary.",
                     first->index);
}

std::string NothingToShip(const SweepResult& result) {
  const std::vector<SweepRow>& rows = result.rows;
  if (rows.empty()) {
    return result.shard.count > 1 ? "this shard has no rows."
                                  : "there are no rows.";
  }
  std::map<std::string, std::size_t> causes;
  for (const SweepRow& row : rows) {
    if (row.cause) ++causes[std::string(Name(*row.cause))];
  }
  if (causes.empty()) {
    return rows.size() == 1
               ? "the one row did not pass."
               : std::format("none of {} rows passed.", rows.size());
  }
  const auto most = std::ranges::max_element(
      causes, {}, [](const auto& entry) { return entry.second; });
  if (rows.size() == 1)
    return std::format("the one row did not pass, cause {}.", most->first);
  return std::format(
      "none of {} rows passed; the most frequent cause is {} ({} rows).",
      rows.size(), most->first, most->second);
}

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    // Nothing of a command may be left out.
    lines.push_back(Printable(text.substr(0, end), text.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string Shortened(std::string_view text, std::size_t columns) {
  std::string printable = Printable(text, text.size());
  const std::size_t width = DisplayWidth(printable);
  if (width <= columns) return printable;
  const std::size_t head = columns / 2;
  const std::size_t tail = width - (columns - head - 1);
  std::string shortened;
  std::size_t column = 0;  // of the next character
  for (const char byte : printable) {
    const bool starts = (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
    if (starts && column++ == head) shortened += "…";
    if (column <= head || column > tail) shortened += byte;
  }
  return shortened;
}

std::vector<std::string> AxesOf(const std::vector<SweepRow>& rows) {
  std::vector<std::string> axes;
  for (const SweepRow& row : rows) {
    for (const AxisValue& entry : row.axes) {
      if (!std::ranges::contains(axes, entry.axis)) axes.push_back(entry.axis);
    }
  }
  return axes;
}

SweepAxisSplit SplitAxes(const std::vector<SweepRow>& rows) {
  std::vector<std::string> axes = AxesOf(rows);
  SweepAxisSplit split;
  for (std::string& axis : axes) {
    const std::string_view value = rows.front().Axis(axis);
    if (std::ranges::all_of(rows, [&](const SweepRow& row) {
          return row.Axis(axis) == value;
        })) {
      split.constant.push_back(
          {.axis = std::move(axis), .value = std::string(value)});
    } else {
      split.varying.push_back(std::move(axis));
    }
  }
  return split;
}

std::string_view ShortProvider(std::string_view provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (provider.ends_with(kSuffix) && provider.size() > kSuffix.size())
    provider.remove_suffix(kSuffix.size());
  return provider;
}

std::vector<std::pair<std::string, std::int64_t>> NodesOf(const SweepRow& row) {
  std::vector<std::pair<std::string, std::int64_t>> nodes;
  for (const auto& [provider, count] : row.provider_nodes) {
    if (count > 0) nodes.emplace_back(ShortProvider(provider), count);
  }
  std::ranges::stable_partition(
      nodes, [](const auto& entry) { return entry.first != "CPU"; });
  return nodes;
}

std::vector<std::pair<std::string, std::string>> SweepFacts(
    const SweepResult& result) {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!result.title.empty())
    facts.emplace_back("sweep", Printable(result.title));
  std::string rows =
      std::format("{} of {}", result.rows.size(), result.row_count);
  if (result.shard.count > 1)
    rows +=
        std::format(" (shard {}/{})", result.shard.index, result.shard.count);
  if (result.resumed > 0)
    rows += std::format(", {} from an earlier run", result.resumed);
  rows += ", " + Duration(result.total_ms);
  facts.emplace_back("rows", std::move(rows));
  const std::vector<AxisValue> constant = SplitAxes(result.rows).constant;
  if (!constant.empty()) facts.emplace_back("all rows", InWords(constant));
  std::string versions = Versions(result.rows);
  if (!versions.empty()) facts.emplace_back("runtime", std::move(versions));
  return facts;
}

std::vector<std::vector<std::string>> SweepTableCells(
    const std::vector<SweepRow>& rows) {
  const std::vector<std::string> axes = SplitAxes(rows).varying;
  std::vector<std::vector<std::string>> table(1, {"row"});
  for (const std::string& axis : axes)
    table[0].push_back(Shortened(axis, kCellColumns));
  table[0].insert(table[0].end(), {"verdict", "cause", "worst", "load ms",
                                   "first", "steady", "peak MB", "nodes"});
  for (const SweepRow& row : rows) {
    std::vector<std::string> cells = {std::to_string(row.index)};
    for (const std::string& axis : axes) {
      const std::string_view value = row.Axis(axis);
      cells.push_back(Shortened(
          axis == "provider" ? ShortProvider(value) : value, kCellColumns));
    }
    cells.insert(cells.end(),
                 {std::string(Name(row.verdict)),
                  std::string(row.cause ? Name(*row.cause) : "-"), Worst(row),
                  Milliseconds(row.load_ms), Milliseconds(row.first_run_ms),
                  Milliseconds(row.steady_run_ms),
                  Megabytes(row.peak_rss_bytes), Nodes(row)});
    table.push_back(std::move(cells));
  }
  return table;
}

std::size_t VerdictColumn(const std::vector<SweepRow>& rows) {
  return 1 + SplitAxes(rows).varying.size();
}

std::vector<std::string> SweepMessages(const std::vector<SweepRow>& rows) {
  struct Group {
    std::string message;
    std::vector<std::size_t> rows;
  };
  std::vector<Group> groups;
  for (const SweepRow& row : rows) {
    if (row.verdict == Verdict::kPassed || row.message.empty()) continue;
    std::string message = Shortened(row.message, kMessageColumns);
    const auto found = std::ranges::find(groups, message, &Group::message);
    if (found == groups.end()) {
      groups.push_back({.message = std::move(message), .rows = {row.index}});
    } else {
      found->rows.push_back(row.index);
    }
  }
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    if (lines.size() == kShownMessages) {
      lines.push_back(std::format("… and {} more messages",
                                  groups.size() - kShownMessages));
      break;
    }
    if (group.rows.size() == 1) {
      lines.push_back(std::format("row {}: {}", group.rows[0], group.message));
      continue;
    }
    constexpr std::size_t kShownRows = 8;
    std::vector<std::string> numbers;
    numbers.reserve(group.rows.size());
    for (const std::size_t row : group.rows)
      numbers.push_back(numbers.size() < kShownRows ? std::to_string(row)
                                                    : "…");
    numbers.resize(std::min(numbers.size(), kShownRows + 1));
    lines.push_back(std::format("{} rows ({}): {}", group.rows.size(),
                                Joined(numbers), group.message));
  }
  return lines;
}

SweepAdvice Advise(const SweepResult& result) {
  const SweepRow* const row = result.recommended();
  if (row == nullptr)
    return {.what = NothingToShip(result), .remarks = {}, .commands = {}};
  SweepAdvice advice{.ship = true,
                     .what = InWords(*row, result.rows),
                     .remarks = {},
                     .commands = Lines(row->command)};
  advice.remarks.push_back(Numbers(*row));
  if (auto remark = AboutOtherShapes(result.rows, *row))
    advice.remarks.push_back(*std::move(remark));
  if (row->provider_ran_nothing())
    advice.remarks.push_back(
        "Its provider ran no node: another one did all the work.");
  if (auto remark = AboutTheFastest(result, *row))
    advice.remarks.push_back(*std::move(remark));
  return advice;
}

}  // namespace parity
