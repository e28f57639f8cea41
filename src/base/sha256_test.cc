#include "base/sha256.h"

#include <gtest/gtest.h>

namespace parity {
namespace {

TEST(Sha256Test, GivesThePublishedDigests) {  // FIPS 180-4 examples
  EXPECT_EQ(Sha256Hex({}),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 sha;
  sha.Update("a");
  sha.Update("bc");
  EXPECT_EQ(sha.Finish(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace parity
