// Columns of text, each as wide as its widest cell.
#ifndef PARITY_REPORT_TEXT_TABLE_H_
#define PARITY_REPORT_TEXT_TABLE_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace parity {

// Columns a UTF-8 text takes on a terminal, counting every code point as one
// and a change of colour ("\x1b[31m") as none.
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) {
    AddRow(std::move(header));
  }
  // Cells beyond the header's count are refused by assertion; missing ones are
  // empty.
  void AddRow(std::vector<std::string> cells);
  // Lines indented by `indent` spaces, two spaces between columns, nothing
  // trailing. Every line ends in a newline.
  [[nodiscard]] std::string Format(std::size_t indent) const;
  // The same, one string a row, for callers that put something behind a row.
  [[nodiscard]] std::vector<std::string> FormatRows(std::size_t indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace parity

#endif  // PARITY_REPORT_TEXT_TABLE_H_
