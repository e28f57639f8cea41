#include "formats/text/utf8.h"

#include <gtest/gtest.h>

#include <string_view>

namespace parity {
namespace {

TEST(Utf8Test, MalformedSequencesAreRefused) {
  for (const std::string_view bad :
       {"\x80", "a\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
        "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xC3\x28", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << testing::PrintToString(bad);
  }
}

TEST(Utf8Test, EveryLengthIsAccepted) {
  for (const std::string_view good :
       {"", "plain", "\xC2\x80", "gewöhnlich", "\xED\x9F\xBF", "\xEF\xBF\xBF",
        "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << testing::PrintToString(good);
  }
}

}  // namespace
}  // namespace parity
