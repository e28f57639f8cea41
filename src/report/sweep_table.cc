#include "report/sweep_table.h"

#include <cstddef>
#include <format>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "report/console_report.h"
#include "report/paint.h"
#include "report/sweep_words.h"
#include "report/text_table.h"

namespace parity {
namespace {

std::string_view ColorOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return kGreen;
    case Verdict::kFailed:
      return kRed;
    case Verdict::kUndecided:
      break;
  }
  return kYellow;
}

std::string Table(const std::vector<SweepRow>& rows, Colors colors) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells = SweepTableCells(rows);
  const std::size_t verdict = VerdictColumn(rows);
  TextTable table(std::move(cells[0]));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string>& row = cells[i + 1];
    row[verdict] = Paint(row[verdict], ColorOf(rows[i].verdict), colors);
    if (rows[i].provider_ran_nothing())
      row.back() = Paint(row.back(), kYellow, colors);
    table.AddRow(std::move(row));
  }
  return "\n" + table.Format(2);
}

std::string Recommendation(const SweepResult& result, Colors colors) {
  const SweepAdvice advice = Advise(result);
  if (!advice.ship)
    return std::format("{} {}\n", Paint("Nothing to ship:", kRed, colors),
                       advice.what);
  std::string text =
      std::format("{} {}\n", Paint("Ship this:", kGreen, colors), advice.what);
  for (const std::string& remark : advice.remarks)
    text += std::format("  {}\n", remark);
  if (!advice.commands.empty()) text += "\n";
  for (const std::string& line : advice.commands)
    text += std::format("  {}\n", line);
  return text;
}

}  // namespace

std::string FormatSweepTable(const SweepResult& result, Colors colors) {
  std::string text;
  for (const auto& [label, fact] : SweepFacts(result))
    text += std::format("{:<10} {}\n", label, fact);
  for (const std::string& note : result.notes)
    text +=
        std::format("{} {}\n", Paint("note", kYellow, colors), Printable(note));
  text += Table(result.rows, colors);
  const std::vector<std::string> messages = SweepMessages(result.rows);
  if (!messages.empty()) text += "\n";
  for (const std::string& message : messages)
    text += std::format("  {}\n", message);
  text += "\n" + Recommendation(result, colors);
  return text;
}

}  // namespace parity
