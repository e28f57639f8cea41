#include "runtimes/runtime_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "parity/error.h"
#include "runtimes/machine.h"
#include "runtimes/testing/fake_npm.h"
#include "runtimes/testing/package_maker.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RuntimeStoreTest : public testing::Test {
 protected:
  // What is in the store's folder but its lock.
  [[nodiscard]] std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(store_.folder())) return names;
    for (const auto& entry :
         std::filesystem::directory_iterator(store_.folder())) {
      if (entry.path().filename() != ".lock")
        names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }
  static std::string FolderName(std::string_view version) {
    return std::string(version) + "-linux-" + std::string(kMachine);
  }
  void Publish(const std::string& version) const {
    npm_.Publish(version, UsualPackage(version));
  }

  FakeNpm npm_;
  RuntimeStore store_{npm_ / "cache"};
};

TEST_F(RuntimeStoreTest, WhatIsAddedIsFound) {
  Publish("1.20.1");
  const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_FALSE(added->was_there);
  EXPECT_THAT(added->notes, IsEmpty());
  const auto library = store_.Find("1.20.1");
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(*library, added->runtime.library());
  EXPECT_EQ(ReadTestFile(library->string()), FakeLibrary("1.20.1"));
  EXPECT_THAT(Entries(), ElementsAre(FolderName("1.20.1")));
}

TEST_F(RuntimeStoreTest, ARecordSaysWhereItCameFrom) {
  Publish("1.20.1");
  const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
  ASSERT_TRUE(added);
  const auto listed = store_.List();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().version, "1.20.1");
  EXPECT_THAT(listed->front().integrity, testing::StartsWith("sha512-"));
  EXPECT_EQ(listed->front().library_bytes,
            static_cast<std::int64_t>(FakeLibrary("1.20.1").size()));
  EXPECT_EQ(listed->front().library_sha256.size(), 64U);
  EXPECT_THAT(listed->front().added,
              testing::MatchesRegex("20..-..-..T..:..:..Z"));
  EXPECT_EQ(listed->front().problem, "");
}

TEST_F(RuntimeStoreTest, AddedAgainItIsNotFetchedAgain) {
  Publish("1.20.1");
  ASSERT_TRUE(store_.Add({.version = "1.20.1"}));
  const Result<AddedRuntime> again = store_.Add({.version = "1.20.1"});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->was_there);
  EXPECT_EQ(npm_.Calls("pack"), 1);
}

TEST_F(RuntimeStoreTest, TheLatestIsWhicheverItIs) {
  Publish("1.20.1");
  const Result<AddedRuntime> added = store_.Add({.version = "latest"});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->runtime.version, "1.20.1");
}

TEST_F(RuntimeStoreTest, NothingIsKeptOfAPackageThatIsNotWhatWasPromised) {
  Publish("1.20.1");
  npm_.SetIntegrity("1.20.1", "sha512-AAAA");
  const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(added.error().message, HasSubstr("sha512-AAAA"));
  EXPECT_THAT(Entries(), IsEmpty());
  EXPECT_FALSE(store_.Find("1.20.1"));
}

TEST_F(RuntimeStoreTest, NothingIsKeptOfAPackageThatCannotBeUsed) {
  npm_.Publish("1.20.0", UsualPackage("1.20.0").substr(0, 100));
  npm_.Publish("1.20.1", MakePackage({Description("1.20.1")}));
  npm_.Publish("1.20.2", UsualPackage("1.21.0"));
  npm_.Publish("1.20.3",
               MakePackage({Description("1.20.3"),
                            {.path = LibraryPath("libonnxruntime.so.1"),
                             .content = std::string(200, 'x')}}));
  npm_.Publish(
      "1.20.4",
      MakePackage({{.path = "package/package.json",
                    .content = R"({"name": "other", "version": "1.20.4"})"},
                   {.path = LibraryPath("libonnxruntime.so.1"),
                    .content = FakeLibrary("x")}}));
  for (const auto& [version, reason] :
       {std::pair{"1.20.0", "no complete .tgz"},
        {"1.20.1", "no library for Linux"},
        {"1.20.2", "is version 1.21.0, not 1.20.2"},
        {"1.20.3", "no ELF file"},
        {"1.20.4", "is the package other"}}) {
    const Result<AddedRuntime> added = store_.Add({.version = version});
    ASSERT_FALSE(added) << version;
    EXPECT_THAT(added.error().message,
                AllOf(HasSubstr(reason), Not(HasSubstr("\n"))));
    EXPECT_THAT(Entries(), IsEmpty()) << version;
  }
}

TEST_F(RuntimeStoreTest, ALibraryOfAnotherMachineIsRefused) {
  std::string other = FakeLibrary("x");
  other[18] = 40;  // the low byte of e_machine: 32-bit ARM
  other[19] = 0;
  npm_.Publish("1.20.1",
               MakePackage({Description("1.20.1"),
                            {.path = LibraryPath("libonnxruntime.so.1"),
                             .content = other}}));
  const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("for another machine"));
}

TEST_F(RuntimeStoreTest, VersionsThatCannotBeUsedAreNotAskedFor) {
  for (const char* version : {"1.15.1", "banana", "../x", ""})
    EXPECT_FALSE(store_.Add({.version = version})) << version;
  EXPECT_EQ(npm_.Calls("view"), 0);
  EXPECT_FALSE(std::filesystem::exists(store_.folder()));
}

TEST_F(RuntimeStoreTest, APackageFileNeedsNoNpmClient) {
  WriteTestFile(npm_ / "p.tgz", UsualPackage("1.22.0"));
  const Result<AddedRuntime> added = store_.Add({.package = npm_ / "p.tgz"});
  ASSERT_TRUE(added) << added.error().message;
  EXPECT_EQ(added->runtime.version, "1.22.0");
  ASSERT_EQ(added->notes.size(), 1U);
  EXPECT_THAT(added->notes.front(), HasSubstr("was not checked"));
  EXPECT_EQ(npm_.Calls("view") + npm_.Calls("pack"), 0);
  EXPECT_TRUE(store_.Find("1.22.0"));
  EXPECT_TRUE(std::filesystem::exists(npm_ / "p.tgz"));

  const Result<AddedRuntime> checked =
      RuntimeStore(npm_ / "second")
          .Add({.version = "1.22.0",
                .package = npm_ / "p.tgz",
                .integrity = added->runtime.integrity});
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_THAT(checked->notes, IsEmpty());
}

TEST_F(RuntimeStoreTest, APackageFileIsNotBelievedEither) {
  WriteTestFile(npm_ / "p.tgz", UsualPackage("1.22.0"));
  WriteTestFile(npm_ / "old.tgz", UsualPackage("1.15.0"));
  EXPECT_FALSE(
      store_.Add({.package = npm_ / "p.tgz", .integrity = "sha512-AAAA"}));
  EXPECT_FALSE(store_.Add({.package = npm_ / "p.tgz", .integrity = "sha1-A"}));
  EXPECT_FALSE(store_.Add({.version = "1.20.1", .package = npm_ / "p.tgz"}));
  EXPECT_FALSE(store_.Add({.package = npm_ / "old.tgz"}));
  EXPECT_FALSE(store_.Add({.package = npm_ / "absent.tgz"}));
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(RuntimeStoreTest, ADamagedLibraryIsSeenAndReplaced) {
  Publish("1.20.1");
  ASSERT_TRUE(store_.Add({.version = "1.20.1"}));
  const std::string library = store_.Find("1.20.1")->string();
  std::string bytes = ReadTestFile(library);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  WriteTestFile(library, bytes);
  const auto found = store_.Find("1.20.1");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("runtime add 1.20.1"),
                    HasSubstr("runtime remove 1.20.1"), Not(HasSubstr("\n"))));

  const Result<AddedRuntime> again = store_.Add({.version = "1.20.1"});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->was_there);
  ASSERT_EQ(again->notes.size(), 1U);
  EXPECT_THAT(again->notes.front(), HasSubstr("damaged"));
  EXPECT_TRUE(store_.Find("1.20.1"));
  EXPECT_THAT(Entries(), ElementsAre(FolderName("1.20.1")));
}

TEST_F(RuntimeStoreTest, ADamagedRecordIsListedAndRemovable) {
  Publish("1.20.1");
  ASSERT_TRUE(store_.Add({.version = "1.20.1"}));
  const std::string folder = (store_.folder() / FolderName("1.20.1")).string();
  for (const char* text : {"", "{", "{\"version\": \"1.20.1\"}", "[]"}) {
    WriteTestFile(folder + "/runtime.json", text);
    const auto found = store_.Find("1.20.1");
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, ErrorCode::kCorrupt);
    const auto listed = store_.List();
    ASSERT_TRUE(listed);
    ASSERT_EQ(listed->size(), 1U);
    EXPECT_THAT(listed->front().problem, HasSubstr("runtime.json"));
  }
  EXPECT_TRUE(store_.Remove("1.20.1"));
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(RuntimeStoreTest, WhatIsNotThereIsAnsweredWithWhatIs) {
  const auto none = store_.Find("1.20.1");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message,
              AllOf(HasSubstr("`onnx-parity runtime add 1.20.1`"),
                    HasSubstr("none is there yet")));
  Publish("1.22.0");
  ASSERT_TRUE(store_.Add({.version = "1.22.0"}));
  EXPECT_THAT(store_.Find("1.20.1").error().message,
              HasSubstr("there is 1.22.0"));
  EXPECT_EQ(store_.Find("../../x").error().code, ErrorCode::kInvalidArgument);
}

TEST_F(RuntimeStoreTest, TheListBeginsWithTheNewestVersion) {
  EXPECT_THAT(store_.List().value(), IsEmpty());
  for (const char* version :
       {"1.20.1", "1.100.0", "1.16.0", "1.20.1-dev.2", "1.30.0"}) {
    Publish(version);
    const Result<AddedRuntime> added = store_.Add({.version = version});
    EXPECT_EQ(added.has_value(), true) << added.error().message;
  }
  std::filesystem::create_directory(store_.folder() / "something else");
  std::vector<std::string> versions;
  const auto listed = store_.List();
  ASSERT_TRUE(listed);
  for (const StoredRuntime& runtime : *listed)
    versions.push_back(runtime.version);
  EXPECT_THAT(versions, ElementsAre("1.100.0", "1.30.0", "1.20.1",
                                    "1.20.1-dev.2", "1.16.0"));
}

TEST_F(RuntimeStoreTest, WhatIsRemovedIsGone) {
  Publish("1.20.1");
  Publish("1.22.0");
  ASSERT_TRUE(store_.Add({.version = "1.20.1"}));
  ASSERT_TRUE(store_.Add({.version = "1.22.0"}));
  ASSERT_TRUE(store_.Remove("1.20.1"));
  EXPECT_THAT(Entries(), ElementsAre(FolderName("1.22.0")));
  const Status again = store_.Remove("1.20.1");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(again.error().message, HasSubstr("there is 1.22.0"));
  EXPECT_FALSE(store_.Remove("../runtimes"));
}

TEST_F(RuntimeStoreTest, WhatAnInterruptedAddLeftIsRemovedByTheNext) {
  const auto left = store_.folder() / ".partial-99999999";
  std::filesystem::create_directories(left / "download");
  WriteTestFile((left / "download" / "x.tgz").string(), "half");
  Publish("1.20.1");
  ASSERT_TRUE(store_.Add({.version = "1.20.1"}));
  EXPECT_THAT(Entries(), ElementsAre(FolderName("1.20.1")));
}

TEST_F(RuntimeStoreTest, ConcurrentAddsOfOneVersionFetchItOnce) {
  Publish("1.20.1");
  npm_.SetPackSeconds("0.3");
  std::atomic<int> fetched = 0;
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
      ASSERT_TRUE(added) << added.error().message;
      ++(added->was_there ? found : fetched);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetched, 1);
  EXPECT_EQ(found, 3);
  EXPECT_EQ(npm_.Calls("pack"), 1);
  EXPECT_TRUE(store_.Find("1.20.1"));
}

TEST_F(RuntimeStoreTest, AnInterruptionLeavesNothing) {
  Publish("1.20.1");
  npm_.SetPackSeconds("60");
  std::atomic<bool> interrupted = false;
  const Result<AddedRuntime> added =
      store_.Add({.version = "1.20.1",
                  .progress =
                      [&](std::string_view text) {
                        if (text.starts_with("fetching")) interrupted = true;
                      },
                  .interrupted = &interrupted});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kInterrupted);
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(RuntimeStoreTest, AFolderThatCannotBeMadeIsOneLine) {
  Publish("1.20.1");
  // A file where the folder should be refuses everyone, root included.
  WriteTestFile(npm_ / "cache", "a file");
  const Result<AddedRuntime> added = store_.Add({.version = "1.20.1"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::kIo);
  EXPECT_THAT(
      added.error().message,
      AllOf(HasSubstr((npm_ / "cache") + "/runtimes"), Not(HasSubstr("\n"))));
  EXPECT_EQ(npm_.Calls("pack"), 0);
}

}  // namespace
}  // namespace parity
