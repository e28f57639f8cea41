#include "runtimes/package_integrity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

std::span<const std::byte> Bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(PackageIntegrityTest, TheRightBytesPass) {
  const std::string right = IntegrityOf(Bytes("package"));
  EXPECT_TRUE(CheckIntegrity(Bytes("package"), right, "x"));
  EXPECT_TRUE(CheckIntegrity(Bytes("package"), right + "?option", "x"));
}

TEST(PackageIntegrityTest, OneOfSeveralDigestsIsEnough) {
  EXPECT_TRUE(CheckIntegrity(Bytes("package"),
                             "sha1-AAAA " + IntegrityOf(Bytes("other")) + "  " +
                                 IntegrityOf(Bytes("package")),
                             "x"));
}

TEST(PackageIntegrityTest, OtherBytesAreRefusedWithBothDigests) {
  const Status status =
      CheckIntegrity(Bytes("package"), IntegrityOf(Bytes("other")), "p.tgz");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(status.error().message, HasSubstr("p.tgz"));
  EXPECT_THAT(status.error().message, HasSubstr(IntegrityOf(Bytes("other"))));
  EXPECT_THAT(status.error().message, HasSubstr(IntegrityOf(Bytes("package"))));
}

TEST(PackageIntegrityTest, WithoutSha512NothingIsVouchedFor) {
  for (const char* integrity : {"", "sha1-AAAA", "sha512", "SHA512-x"}) {
    const Status status = CheckIntegrity(Bytes("package"), integrity, "x");
    ASSERT_FALSE(status) << integrity;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument) << integrity;
  }
}

}  // namespace
}  // namespace parity
