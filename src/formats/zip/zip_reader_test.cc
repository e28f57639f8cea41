#include "formats/zip/zip_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "formats/testing/damage.h"
#include "formats/zip/zip_maker.h"
#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using testing_damage::Copy;

std::string TextOf(const ZipContent& content) {
  return {reinterpret_cast<const char*>(content.bytes.data()),
          content.bytes.size()};
}

// Reads every entry; what is accepted lies in readable memory.
void ReadAll(const Copy& copy) {
  const auto zip = ZipReader::Open(copy.bytes, copy.block);
  if (!zip) return;
  for (const ZipEntry& entry : zip->entries()) {
    const auto content = zip->Read(entry);
    if (!content) continue;
    EXPECT_EQ(TextOf(*content).size(), entry.size);
  }
}

std::string SmallArchive() {
  return ZipMaker()
      .Add("a/one", "first")
      .Add("a/two", std::string(300, 'x'), ZipMaker::Packing::kDeflated)
      .Add("a/none", "")
      .Finish();
}

TEST(ZipReaderTest, EveryTruncationIsRefused) {
  const std::string archive = SmallArchive();
  testing_damage::ForEachTruncation(AsBytes(archive), [](const Copy& copy) {
    EXPECT_FALSE(ZipReader::Open(copy.bytes, copy.block).has_value());
  });
}

TEST(ZipReaderTest, NoBitFlipReadsOutsideTheArchive) {
  const std::string archive = SmallArchive();
  testing_damage::ForEachBitFlip(AsBytes(archive), ReadAll);
  const std::string large = ZipMaker(true).Add("one", "first").Finish();
  testing_damage::ForEachBitFlip(AsBytes(large), ReadAll);
}

TEST(ZipReaderTest, DamagedContentNamesItsEntry) {
  for (const auto packing :
       {ZipMaker::Packing::kStored, ZipMaker::Packing::kDeflated}) {
    std::string archive =
        ZipMaker().Add("archive/data/3", "12345678", packing).Finish();
    archive[30 + std::strlen("archive/data/3") + 2] ^= 1;
    const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
    ASSERT_TRUE(zip.has_value());
    const auto content = zip->Read(zip->entries()[0]);
    ASSERT_FALSE(content.has_value());
    EXPECT_THAT(content.error().message,
                ::testing::StartsWith("archive/data/3: "));
    EXPECT_EQ(content.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ZipReaderTest, StoredEntriesBorrowAndDeflatedOnesUnpack) {
  const std::string archive = SmallArchive();
  const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  ASSERT_EQ(zip->entries().size(), 3U);
  const auto one = zip->Read(*zip->Find("a/one"));
  EXPECT_EQ(TextOf(*one), "first");
  EXPECT_EQ(static_cast<const void*>(one->bytes.data()), archive.data() + 35);
  EXPECT_EQ(TextOf(*zip->Read(*zip->Find("a/two"))), std::string(300, 'x'));
  EXPECT_EQ(TextOf(*zip->Read(*zip->Find("a/none"))), "");
  EXPECT_EQ(zip->Find("a/three"), nullptr);
}

TEST(ZipReaderTest, Zip64FieldsAndCommentsAreUnderstood) {
  const std::string archive =
      ZipMaker(true)
          .Add("big", "content")
          .Add("packed", std::string(1000, 'y'), ZipMaker::Packing::kDeflated)
          .Finish("a comment");
  const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
  ASSERT_TRUE(zip.has_value()) << zip.error().message;
  EXPECT_EQ(TextOf(*zip->Read(*zip->Find("big"))), "content");
  EXPECT_EQ(TextOf(*zip->Read(*zip->Find("packed"))), std::string(1000, 'y'));
}

TEST(ZipReaderTest, TwoEntriesOfOneNameAreRefused) {
  const std::string archive =
      ZipMaker().Add("same", "1").Add("same", "2").Finish();
  const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
  ASSERT_FALSE(zip.has_value());
  EXPECT_THAT(zip.error().message, HasSubstr("'same' twice"));
}

TEST(ZipReaderTest, OverlappingEntriesAreRefused) {
  std::string archive = ZipMaker().Add("a", "1234").Add("b", "5678").Finish();
  // The second entry's central record claims to start where the first does.
  const std::size_t second = archive.rfind("PK\x01\x02");
  const std::uint32_t zero = 0;
  std::memcpy(archive.data() + second + 42, &zero, sizeof(zero));
  const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
  ASSERT_FALSE(zip.has_value());
  EXPECT_THAT(zip.error().message, HasSubstr("overlap"));
}

TEST(ZipReaderTest, DeclaredSizesBeyondTheStreamAreRefusedBeforeAllocating) {
  std::string archive =
      ZipMaker().Add("bomb", "tiny", ZipMaker::Packing::kDeflated).Finish();
  const std::size_t central = archive.rfind("PK\x01\x02");
  const std::uint32_t huge = 0xFFFFFFF0;
  std::memcpy(archive.data() + central + 24, &huge, sizeof(huge));
  const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
  ASSERT_TRUE(zip.has_value());
  const auto content = zip->Read(zip->entries()[0]);
  ASSERT_FALSE(content.has_value());
  EXPECT_THAT(content.error().message,
              HasSubstr("cannot unpack to 4294967280"));
}

TEST(ZipReaderTest, EncryptionAndOtherMethodsAreUnsupported) {
  struct Case {
    std::size_t offset;
    char value;
    std::string_view message;
  };
  for (const Case& c :
       {Case{8, 1, "encrypted"}, Case{10, 12, "zip method 12"}}) {
    std::string archive = ZipMaker().Add("entry", "text").Finish();
    archive[archive.rfind("PK\x01\x02") + c.offset] = c.value;
    const auto zip = ZipReader::Open(AsBytes(archive), nullptr);
    ASSERT_TRUE(zip.has_value());
    const auto content = zip->Read(zip->entries()[0]);
    ASSERT_FALSE(content.has_value());
    EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
    EXPECT_THAT(content.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace parity
