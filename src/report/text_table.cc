#include "report/text_table.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

std::size_t DisplayWidth(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\x1b[")) {
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      ++width;
    }
  }
  return width;
}

void TextTable::AddRow(std::vector<std::string> cells) {
  assert(rows_.empty() || cells.size() <= rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::vector<std::string> TextTable::FormatRows(std::size_t indent) const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows_) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - DisplayWidth(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string TextTable::Format(std::size_t indent) const {
  std::string text;
  for (const std::string& line : FormatRows(indent)) text += line + "\n";
  return text;
}

}  // namespace parity
