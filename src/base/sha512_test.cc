#include "base/sha512.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace parity {
namespace {

std::string Digest(std::string_view text) {
  return Sha512Base64(std::as_bytes(std::span(text.data(), text.size())));
}

// The example of FIPS 180-4, as `printf abc | openssl dgst -sha512 -binary |
// base64 -w0` prints it.
TEST(Sha512Test, AgreesWithTheStandardsExample) {
  EXPECT_EQ(Digest("abc"),
            "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9"
            "RU1EI2Q86A4qmslPpUyknw==");
}

TEST(Sha512Test, NothingHasADigestToo) {
  EXPECT_EQ(Digest(""),
            "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwv"
            "Y7kxvUdBeoGlODJ6+SfaPg==");
}

}  // namespace
}  // namespace parity
