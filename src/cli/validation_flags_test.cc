#include "cli/validation_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {
namespace {

using ::testing::HasSubstr;

ValidationFlags With(std::vector<std::string> ValidationFlags::* member,
                     std::vector<std::string> values) {
  ValidationFlags flags;
  flags.*member = std::move(values);
  return flags;
}

std::string ErrorOf(const ValidationFlags& flags) {
  const Result<ValidationOptions> options = ToOptions(flags);
  return options ? "" : options.error().message;
}

TEST(ValidationFlagsTest, AToleranceIsForAllOutputsOrForOne) {
  const auto options =
      ToOptions(With(&ValidationFlags::atol, {"0.01", "pha=0.001"}));
  ASSERT_TRUE(options.has_value());
  EXPECT_EQ(options->tolerance.atol, 0.01);
  EXPECT_EQ(options->output_atol.at("pha"), 0.001);
  EXPECT_EQ(ToOptions({})->tolerance.atol, 0.005);
}

TEST(ValidationFlagsTest, ATolerantToleranceIsRefused) {
  for (const char* bad :
       {"nan", "inf", "-1", "0.1x", "", "pha=", "=1", "pha=inf"}) {
    EXPECT_THAT(ErrorOf(With(&ValidationFlags::atol, {bad})),
                HasSubstr("--atol"))
        << bad;
  }
}

TEST(ValidationFlagsTest, ShapesAndDimensionsAreNamed) {
  const auto options =
      ToOptions(With(&ValidationFlags::shapes, {"src=1x3x8x8"}));
  EXPECT_EQ(options->cases.shapes.at("src"), (Shape{1, 3, 8, 8}));
  EXPECT_THAT(ErrorOf(With(&ValidationFlags::shapes, {"1x3x8x8"})),
              HasSubstr("not of the form name=value"));
  EXPECT_THAT(ErrorOf(With(&ValidationFlags::dimensions, {"height=-4"})),
              HasSubstr("negative"));
  EXPECT_THAT(ErrorOf(With(&ValidationFlags::dimensions, {"height=tall"})),
              HasSubstr("not a number"));
}

TEST(ValidationFlagsTest, MemoryLimitsHaveUnits) {
  const auto bytes = [](const std::string& text) {
    ValidationFlags flags;
    flags.memory_limit = text;
    const auto options = ToOptions(flags);
    return options ? options->limits.memory_bytes : -1;
  };
  EXPECT_EQ(bytes("750MB"), 750'000'000);
  EXPECT_EQ(bytes("2GiB"), std::int64_t{2} << 30);
  EXPECT_EQ(bytes("1.5G"), std::int64_t{3} << 29);
  EXPECT_EQ(bytes("4096"), 4096);
  for (const char* bad : {"", "MB", "-1GB", "0", "1e30GB", "2 GB", "nan"}) {
    EXPECT_EQ(bytes(bad), *bad == '\0' ? 0 : -1) << bad;
  }
}

TEST(ValidationFlagsTest, ACacheHasASizeOfItsOwn) {
  ValidationFlags flags;
  EXPECT_EQ(ToOptions(flags)->reference.cache_bytes, 10'000'000'000);
  flags.cache_size = "1GB";
  EXPECT_EQ(ToOptions(flags)->reference.cache_bytes, 1'000'000'000);
  EXPECT_EQ(ToOptions(flags)->limits.memory_bytes, 0);
  flags.cache_size = "much";
  EXPECT_THAT(ErrorOf(flags), HasSubstr("--cache-size: 'much'"));
}

TEST(ValidationFlagsTest, AnEndlessTimeoutStaysWithinItsType) {
  ValidationFlags flags;
  flags.timeout_seconds = 1e300;
  EXPECT_GT(ToOptions(flags)->limits.timeout, std::chrono::hours(24));
}

}  // namespace
}  // namespace parity
