#include "report/text_table.h"

#include <gtest/gtest.h>

namespace parity {
namespace {

TEST(TextTableTest, ColumnsAreAsWideAsTheirWidestCell) {
  TextTable table({"name", "x"});
  table.AddRow({"a", "12"});
  table.AddRow({"longest", "3"});
  EXPECT_EQ(table.Format(1), " name     x\n a        12\n longest  3\n");
}

TEST(TextTableTest, MissingCellsAndEmptyTextLeaveNothingTrailing) {
  TextTable table({"a", "b"});
  table.AddRow({"x"});
  table.AddRow({"x", ""});
  EXPECT_EQ(table.Format(0), "a  b\nx\nx\n");
}

TEST(TextTableTest, NonAsciiTextCountsByCharacter) {
  EXPECT_EQ(DisplayWidth("1·|x|"), 5U);
  EXPECT_EQ(DisplayWidth(""), 0U);
}

TEST(TextTableTest, ChangesOfColourTakeNoWidth) {
  EXPECT_EQ(DisplayWidth("\x1b[31mab\x1b[0m"), 2U);
  EXPECT_EQ(DisplayWidth("a\x1b["), 1U);
  TextTable table({"a", "b"});
  table.AddRow({"\x1b[31mlong\x1b[0m", "x"});
  EXPECT_EQ(table.Format(0), "a     b\n\x1b[31mlong\x1b[0m  x\n");
}

}  // namespace
}  // namespace parity
