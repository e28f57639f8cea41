#include "backend/ort/ort_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

TEST(OrtLibraryTest, TheSystemsLibraryIsFound) {
  const auto library = LoadOrtLibrary("");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  EXPECT_NE(library->api, nullptr);
  EXPECT_THAT(library->version, ::testing::StartsWith("1."));
}

TEST(OrtLibraryTest, AMissingLibraryIsNamed) {
  for (const char* const path : {"/nowhere/libonnxruntime.so", "nowhere.so"}) {
    const auto library = LoadOrtLibrary(path);
    ASSERT_FALSE(library.has_value());
    EXPECT_EQ(library.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(library.error().message, HasSubstr(path));
  }
}

TEST(OrtLibraryTest, FilesThatAreNoLibraryAreNamed) {
  const auto text = LoadOrtLibrary("/etc/passwd");
  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kBackend);
  EXPECT_THAT(text.error().message, HasSubstr("/etc/passwd"));
}

TEST(OrtLibraryTest, OtherLibrariesAreRefused) {
  const auto other = LoadOrtLibrary(PARITY_OTHER_LIBRARY);
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("is no ONNX Runtime library"));
}

TEST(OrtLibraryTest, ItsLevelIsNotBeyondItsRelease) {
  const auto library = LoadOrtLibrary("");
  ASSERT_TRUE(library.has_value()) << library.error().message;
  const int minor = std::stoi(library->version.substr(2));
  EXPECT_GE(library->level, 16U);
  EXPECT_LE(library->level, static_cast<std::uint32_t>(minor));
}

TEST(OrtLibraryTest, WhatCameLaterIsRefused) {
  const OrtLibrary library{.api = nullptr, .version = "1.17.3", .level = 17};
  EXPECT_TRUE(RequireLevel(library, 16, "x"));
  EXPECT_TRUE(RequireLevel(library, 17, "x"));
  const Status status = RequireLevel(library, 18, "way to fly");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(status.error().message,
            "ONNX Runtime 1.17.3 has no way to fly, 1.18 or newer is needed");
}

}  // namespace
}  // namespace parity
