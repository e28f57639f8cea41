#include "runtimes/package_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "parity/error.h"
#include "runtimes/machine.h"
#include "runtimes/testing/package_maker.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PackageArchiveTest : public testing::Test {
 protected:
  PackageArchiveTest() {
    if (::mkdtemp(pattern_.data()) == nullptr) std::abort();
  }
  ~PackageArchiveTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(pattern_, ignored);
  }

  Result<PackageContent> Unpack(std::string_view bytes) const {
    return UnpackRuntime(std::as_bytes(std::span(bytes.data(), bytes.size())),
                         "p.tgz", pattern_);
  }
  [[nodiscard]] std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(pattern_))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
  [[nodiscard]] std::string Content(const std::string& name) const {
    return ReadTestFile(pattern_ + "/" + name);
  }

 private:
  std::string pattern_ =
      (std::filesystem::temp_directory_path() / "parity-package-XXXXXX")
          .string();
};

TEST_F(PackageArchiveTest, TheLibraryIsUnpackedAndNothingElse) {
  const Result<PackageContent> content = Unpack(UsualPackage("1.22.0"));
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->name, "onnxruntime-node");
  EXPECT_EQ(content->version, "1.22.0");
  EXPECT_THAT(Files(), ElementsAre("libonnxruntime.so.1"));
  EXPECT_EQ(Content("libonnxruntime.so.1"), FakeLibrary("1.22.0"));
}

TEST_F(PackageArchiveTest, AnOldPackageHasItUnderItsFullNameOnly) {
  ASSERT_TRUE(Unpack(
      MakePackage({Description("1.16.0"),
                   {.path = "package/bin/napi-v3/linux/" +
                            std::string(kMachine) + "/libonnxruntime.so.1.16.0",
                    .content = "old"}})));
  EXPECT_EQ(Content("libonnxruntime.so.1"), "old");
}

TEST_F(PackageArchiveTest, OfBothNamesTheShortOneCounts) {
  const PackageMember full{.path = LibraryPath("libonnxruntime.so.1.20.1"),
                           .content = "full"};
  const PackageMember brief{.path = LibraryPath("libonnxruntime.so.1"),
                            .content = "brief"};
  ASSERT_TRUE(Unpack(MakePackage({Description("1.20.1"), full, brief})));
  EXPECT_EQ(Content("libonnxruntime.so.1"), "brief");
  ASSERT_TRUE(Unpack(MakePackage({Description("1.20.1"), brief, full})));
  EXPECT_EQ(Content("libonnxruntime.so.1"), "brief");
}

TEST_F(PackageArchiveTest, TheProvidersLibraryComesAlong) {
  ASSERT_TRUE(Unpack(MakePackage(
      {Description("1.18.0"),
       {.path = LibraryPath("libonnxruntime.so.1.18.0"), .content = "a"},
       {.path = LibraryPath("libonnxruntime_providers_shared.so"),
        .content = "b"}})));
  EXPECT_THAT(Files(), ElementsAre("libonnxruntime.so.1",
                                   "libonnxruntime_providers_shared.so"));
}

TEST_F(PackageArchiveTest, WithoutALibraryForThisMachineItSaysSo) {
  const Result<PackageContent> content = Unpack(MakePackage(
      {Description("1.22.0"),
       {.path = "package/bin/napi-v6/linux/riscv/libonnxruntime.so.1",
        .content = "x"},
       {.path = "package/bin/napi-v6/win32/" + std::string(kMachine) +
                "/libonnxruntime.so.1",
        .content = "x"}}));
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(content.error().message, HasSubstr("no library for Linux"));
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(PackageArchiveTest, NamesThatOnlyResembleAreNotUnpacked) {
  const std::string base = LibraryPath("");
  std::vector<PackageMember> members = {Description("1.22.0")};
  for (const std::string& path :
       {base + "../libonnxruntime.so.1", base + "libonnxruntime.so.1/../../x",
        "../" + base + "libonnxruntime.so.1",
        "/" + base + "libonnxruntime.so.1", base + "libonnxruntime.so.10",
        base + "libonnxruntime.so.1.a", base + "libonnxruntime.so",
        "package/bin/napi-v/linux/" + std::string(kMachine) +
            "/libonnxruntime.so.1",
        "package/bin/napi-v6x/linux/" + std::string(kMachine) +
            "/libonnxruntime.so.1"})
    members.push_back({.path = path, .content = "x"});
  const Result<PackageContent> content = Unpack(MakePackage(members));
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(PackageArchiveTest, ALinkIsNoLibrary) {
  const Result<PackageContent> content =
      Unpack(MakePackage({Description("1.22.0"),
                          {.path = LibraryPath("libonnxruntime.so.1"),
                           .content = "",
                           .link_target = "/etc/passwd"}}));
  ASSERT_FALSE(content);
  EXPECT_THAT(Files(), IsEmpty());
}

TEST_F(PackageArchiveTest, EveryTruncationIsAnErrorOfOneLine) {
  const std::string whole = UsualPackage("1.22.0");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Result<PackageContent> content =
        Unpack(std::string_view(whole).substr(0, size));
    // The last bytes are padding of the tar format and gzip's own trailer.
    if (content) {
      EXPECT_EQ(Content("libonnxruntime.so.1"), FakeLibrary("1.22.0"));
      EXPECT_GT(size + 64, whole.size());
      continue;
    }
    EXPECT_THAT(content.error().message, HasSubstr("p.tgz")) << size;
    EXPECT_FALSE(content.error().message.contains('\n')) << size;
  }
}

TEST_F(PackageArchiveTest, DamagedBytesNeverCrash) {
  const std::string whole = UsualPackage("1.22.0");
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << (i % 8)));
    refused += Unpack(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, static_cast<int>(whole.size() / 2));
}

TEST_F(PackageArchiveTest, OtherFilesAreNoArchives) {
  for (const char* bytes : {"", "hello", "PK\x03\x04 a zip file"}) {
    const Result<PackageContent> content = Unpack(bytes);
    ASSERT_FALSE(content) << bytes;
  }
}

TEST_F(PackageArchiveTest, APackageWithoutADescriptionIsRefused) {
  for (const char* text : {"", "[]", "{\"name\": 1, \"version\": \"1.22.0\"}",
                           "{\"name\": \"onnxruntime-node\"}"}) {
    const Result<PackageContent> content = Unpack(MakePackage(
        {{.path = "package/package.json", .content = text},
         {.path = LibraryPath("libonnxruntime.so.1"), .content = "x"}}));
    ASSERT_FALSE(content) << text;
    EXPECT_EQ(content.error().code, ErrorCode::kCorrupt);
  }
}

TEST_F(PackageArchiveTest, AnInterruptionEndsIt) {
  const std::atomic<bool> interrupted = true;
  const std::string bytes = UsualPackage("1.22.0");
  const Result<PackageContent> content = UnpackRuntime(
      std::as_bytes(std::span(bytes.data(), bytes.size())), "p.tgz",
      std::filesystem::temp_directory_path(), &interrupted);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace parity
