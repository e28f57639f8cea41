#include "diagnose/repro_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <format>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "parity/error.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReproFolderTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(base_); }
  void TearDown() override { std::filesystem::remove_all(base_); }

  static void Write(const std::filesystem::path& path) {
    std::ofstream(path) << "text";
  }
  [[nodiscard]] std::vector<std::string> Entries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(base_))
      names.push_back(entry.path().filename().string());
    return names;
  }

  std::filesystem::path base_ =
      std::filesystem::temp_directory_path() /
      std::format("onnx-parity-repro-folder-{}", ::getpid());
};

TEST_F(ReproFolderTest, AppearsWholeWhenCommitted) {
  auto folder = ReproFolder::Create(base_ / "out/");
  ASSERT_TRUE(folder) << folder.error().message;
  Write(folder->partial() / "file");
  EXPECT_FALSE(std::filesystem::exists(base_ / "out"));
  ASSERT_TRUE(folder->Commit());
  EXPECT_TRUE(std::filesystem::exists(base_ / "out" / "file"));
  EXPECT_THAT(Entries(), ElementsAre("out"));
}

TEST_F(ReproFolderTest, AnAbandonedOneLeavesNothing) {
  {
    auto folder = ReproFolder::Create(base_ / "out");
    ASSERT_TRUE(folder);
    const ReproFolder moved = *std::move(folder);
    Write(moved.partial() / "file");
  }
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(ReproFolderTest, AnEmptyFolderIsReplacedThroughALink) {
  std::filesystem::create_directory(base_ / "empty");
  std::filesystem::create_directory_symlink(base_ / "empty", base_ / "link");
  auto folder = ReproFolder::Create(base_ / "link");
  ASSERT_TRUE(folder) << folder.error().message;
  Write(folder->partial() / "file");
  ASSERT_TRUE(folder->Commit());
  EXPECT_TRUE(std::filesystem::is_symlink(base_ / "link"));
  EXPECT_TRUE(std::filesystem::exists(base_ / "empty" / "file"));
}

TEST_F(ReproFolderTest, WhatIsThereIsNeverTouched) {
  std::filesystem::create_directory(base_ / "full");
  Write(base_ / "full" / "file");
  const auto full = ReproFolder::Create(base_ / "full");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(full.error().message, HasSubstr("full: the folder is not empty"));
  const auto file = ReproFolder::Create(base_ / "full" / "file");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr("is not a folder"));
  EXPECT_THAT(Entries(), ElementsAre("full"));
}

TEST_F(ReproFolderTest, APlaceThatCannotBeWrittenFailsEarly) {
  const auto folder = ReproFolder::Create(base_ / "none" / "out");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  EXPECT_THAT(folder.error().message, HasSubstr("No such file"));
}

TEST_F(ReproFolderTest, LeftoversOfAKilledProcessAreNotInTheWay) {
  const auto first = ReproFolder::Create(base_ / "out");
  const auto second = ReproFolder::Create(base_ / "out");
  ASSERT_TRUE(first);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_NE(first->partial(), second->partial());
}

}  // namespace
}  // namespace parity
