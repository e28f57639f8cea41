#include "runtimes/runtime_version.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "parity/error.h"

namespace parity {
namespace {

TEST(RuntimeVersionTest, TextsComeBackAsTheyWere) {
  for (const char* text :
       {"1.16.0", "1.20.1", "1.24.0-dev.20260114-c343143a49", "2.0.0"}) {
    const Result<RuntimeVersion> version = ParseRuntimeVersion(text);
    ASSERT_TRUE(version) << text;
    EXPECT_EQ(version->Text(), text);
  }
}

TEST(RuntimeVersionTest, AnythingElseIsRefused) {
  for (const char* text :
       {"",           "1",           "1.20",       "1.20.1.0",
        "1..1",       "1.20.",       "v1.20.1",    "1.20.x",
        "latest",     "^1.20.1",     "1.20.1 ",    "../1.20.1",
        "1.20.1/..",  "1.20.1-",     "1.20.1-a/b", "1.20.1-..",
        "1.20.1-a b", "01.20.1",     "-1.20.1",    "1.20.99999999999",
        "file:x.tgz", "1.20.1+build"}) {
    const Result<RuntimeVersion> version = ParseRuntimeVersion(text);
    ASSERT_FALSE(version) << text;
    EXPECT_EQ(version.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(ParseRuntimeVersion("1.2.3-" + std::string(1000, 'a')));
}

TEST(RuntimeVersionTest, OrderIsByNumbersAndSuffixesComeBeforeTheirRelease) {
  const std::vector<std::string> ascending = {
      "1.9.0",         "1.16.0",          "1.20.0-alpha", "1.20.0-dev.9",
      "1.20.0-dev.10", "1.20.0-dev.10.1", "1.20.0-dev.a", "1.20.0",
      "1.20.1",        "1.100.0",         "2.0.0"};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(IsOlder(*ParseRuntimeVersion(ascending[i]),
                        *ParseRuntimeVersion(ascending[j])),
                i < j)
          << ascending[i] << " and " << ascending[j];
    }
  }
}

TEST(RuntimeVersionTest, VersionsBefore1Point16AreTooOld) {
  EXPECT_TRUE(CheckUsable(*ParseRuntimeVersion("1.16.0")));
  EXPECT_TRUE(CheckUsable(*ParseRuntimeVersion("2.0.0")));
  for (const char* text : {"1.15.1", "0.99.0", "1.16.0-dev"}) {
    const Status status = CheckUsable(*ParseRuntimeVersion(text));
    ASSERT_FALSE(status) << text;
    EXPECT_EQ(status.error().message,
              "ONNX Runtime " + std::string(text) +
                  " is too old: 1.16.0 or newer is needed");
  }
}

}  // namespace
}  // namespace parity
