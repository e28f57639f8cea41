#include "report/sweep_markdown.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <format>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "parity/sweep.h"
#include "report/sweep_words.h"

namespace parity {
namespace {

bool IsWordCharacter(std::string_view text, std::size_t at) {
  return at < text.size() &&
         std::isalnum(static_cast<unsigned char>(text[at])) != 0;
}

// Whatever would be taken for markup, with a backslash. An underscore inside a
// word ("scatter_nd") is none.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word =
        i > 0 && IsWordCharacter(text, i - 1) && IsWordCharacter(text, i + 1);
    const bool markup = std::string_view("\\|`*<>[]&~").contains(text[i]) ||
                        (text[i] == '_' && !inside_word);
    if (markup) escaped += '\\';
    escaped += text[i];
  }
  return escaped;
}

std::string TableLine(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells)
    line += std::format(" {} |", Escaped(cell));
  return line + "\n";
}

std::string Table(const std::vector<SweepRow>& rows) {
  if (rows.empty()) return "";
  std::string text = "\n";
  bool header = true;
  for (const std::vector<std::string>& cells : SweepTableCells(rows)) {
    text += TableLine(cells);
    if (!header) continue;
    header = false;
    text += "|";
    for (std::size_t i = 0; i < cells.size(); ++i) text += "---|";
    text += "\n";
  }
  return text;
}

// A fence longer than any run of backticks inside.
std::string CodeBlock(const std::vector<std::string>& lines) {
  std::size_t longest = 2;
  std::string code;
  for (const std::string& line : lines) {
    std::size_t run = 0;
    for (const char character : line) {
      run = character == '`' ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    code += line + "\n";
  }
  const std::string fence(longest + 1, '`');
  return std::format("\n{}sh\n{}{}\n", fence, code, fence);
}

}  // namespace

std::string FormatSweepMarkdown(const SweepResult& result) {
  std::string text;
  for (const auto& [label, fact] : SweepFacts(result))
    text += std::format("- {}: {}\n", label, Escaped(fact));
  for (const std::string& note : result.notes)
    text += std::format("- note: {}\n", Escaped(Printable(note)));
  text += Table(result.rows);
  const std::vector<std::string> messages = SweepMessages(result.rows);
  if (!messages.empty()) text += "\n";
  for (const std::string& message : messages)
    text += std::format("- {}\n", Escaped(message));
  const SweepAdvice advice = Advise(result);
  text += std::format("\n**{}:** {}\n",
                      advice.ship ? "Ship this" : "Nothing to ship",
                      Escaped(advice.what));
  if (!advice.remarks.empty()) text += "\n";
  for (const std::string& remark : advice.remarks)
    text += Escaped(remark) + "\n";
  if (!advice.commands.empty()) text += CodeBlock(advice.commands);
  return text;
}

}  // namespace parity
