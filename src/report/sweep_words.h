// What the reports of a sweep say to people, the same on the terminal and in
// Markdown.
#ifndef PARITY_REPORT_SWEEP_WORDS_H_
#define PARITY_REPORT_SWEEP_WORDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parity/sweep.h"

namespace parity {

// In the order in which the rows name them.
[[nodiscard]] std::vector<std::string> AxesOf(
    const std::vector<SweepRow>& rows);

struct SweepAxisSplit {
  std::vector<std::string> varying;  // have two values or more: columns
  std::vector<AxisValue> constant;
};

[[nodiscard]] SweepAxisSplit SplitAxes(const std::vector<SweepRow>& rows);

// "DnnlExecutionProvider" → "Dnnl".
[[nodiscard]] std::string_view ShortProvider(std::string_view provider);

// Providers that ran nodes, by short name, the CPU last.
[[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> NodesOf(
    const SweepRow& row);

// Label and text of each line above the table: what was swept, how many rows,
// what is the same in all of them. Without the notes.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> SweepFacts(
    const SweepResult& result);

// The table, the header first; as many cells in every row.
[[nodiscard]] std::vector<std::vector<std::string>> SweepTableCells(
    const std::vector<SweepRow>& rows);
// The place of the verdict among the cells.
[[nodiscard]] std::size_t VerdictColumn(const std::vector<SweepRow>& rows);

// Why rows did not pass: "row 3: …", "2 rows (4, 5): …" for a message that both
// have. One line each.
[[nodiscard]] std::vector<std::string> SweepMessages(
    const std::vector<SweepRow>& rows);

struct SweepAdvice {
  bool ship = false;
  // "crop roi_align, provider cpu", or why there is nothing to ship.
  std::string what;
  std::vector<std::string> remarks;   // a sentence each
  std::vector<std::string> commands;  // lines
};
[[nodiscard]] SweepAdvice Advise(const SweepResult& result);

// Control characters written out, the middle left out beyond `columns`.
[[nodiscard]] std::string Shortened(std::string_view text, std::size_t columns);

}  // namespace parity

#endif  // PARITY_REPORT_SWEEP_WORDS_H_
