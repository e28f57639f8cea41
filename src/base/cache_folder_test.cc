#include "base/cache_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "parity/error.h"

namespace parity {
namespace {

// Restores the two variables.
class CacheFolderTest : public testing::Test {
 protected:
  void TearDown() override {
    Set("XDG_CACHE_HOME", cache_);
    Set("HOME", home_);
  }
  static std::string Get(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  }
  static void Set(const char* name, const std::string& value) {
    if (value.empty()) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value.c_str(), 1);
    }
  }

 private:
  std::string cache_ = Get("XDG_CACHE_HOME");
  std::string home_ = Get("HOME");
};

TEST_F(CacheFolderTest, TheVariableOfTheSpecificationComesFirst) {
  Set("XDG_CACHE_HOME", "/var/cache/me");
  Set("HOME", "/home/me");
  EXPECT_EQ(DefaultCacheFolder().value(), "/var/cache/me/onnx-parity");
}

TEST_F(CacheFolderTest, ARelativeOneIsIgnored) {
  Set("XDG_CACHE_HOME", "cache");
  Set("HOME", "/home/me");
  EXPECT_EQ(DefaultCacheFolder().value(), "/home/me/.cache/onnx-parity");
}

TEST_F(CacheFolderTest, WithoutAHomeTheErrorNamesTheFlag) {
  Set("XDG_CACHE_HOME", "");
  Set("HOME", "");
  const auto folder = DefaultCacheFolder();
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kNotFound);
  EXPECT_NE(folder.error().message.find("--cache"), std::string::npos);
}

}  // namespace
}  // namespace parity
