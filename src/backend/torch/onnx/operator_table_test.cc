#include "backend/torch/onnx/operator_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace parity {
namespace {

// Names in backticks in the second column of the first table.
std::set<std::string> DocumentedOperators() {
  std::ifstream file(std::filesystem::path(PARITY_SOURCE_DIR) /
                     "docs/onnx_operators.md");
  std::set<std::string> names;
  std::string line;
  while (std::getline(file, line) && line != "## Operators") {
  }
  while (std::getline(file, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ")) continue;
    const std::size_t column = line.find(" | ") + 3;
    std::string list = line.substr(column, line.find(" | ", column) - column);
    for (std::size_t open = list.find('`'); open != std::string::npos;
         open = list.find('`', open)) {
      const std::size_t close = list.find('`', open + 1);
      names.insert(list.substr(open + 1, close - open - 1));
      open = close + 1;
    }
  }
  return names;
}

TEST(OperatorTableTest, TheDocumentationListsEveryOperatorAndNoOther) {
  std::set<std::string> evaluated;
  for (const auto& [name, function] : Operators()) evaluated.emplace(name);
  EXPECT_GT(evaluated.size(), 150U);
  EXPECT_THAT(DocumentedOperators(), ::testing::ContainerEq(evaluated));
}

}  // namespace
}  // namespace parity
