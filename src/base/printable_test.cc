#include "base/printable.h"

#include <gtest/gtest.h>

#include <string>

namespace parity {
namespace {

TEST(PrintableTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(Printable(std::string("a\nb\0c\x7F", 6)), "a\\x0Ab\\x00c\\x7F");
  EXPECT_EQ(Printable("\x1B[2J"), "\\x1B[2J");
}

TEST(PrintableTest, OtherTextIsUnchanged) {
  EXPECT_EQ(Printable("/backbone/conv1 größer"), "/backbone/conv1 größer");
  EXPECT_EQ(Printable(""), "");
}

TEST(PrintableTest, LongTextLosesItsMiddle) {
  EXPECT_EQ(Printable("0123456789", 10), "0123456789");
  EXPECT_EQ(Printable("0123456789", 4), "01 … 89");
}

}  // namespace
}  // namespace parity
