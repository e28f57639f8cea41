#include "base/scratch_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

class ScratchFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    parent_ = fs::path(testing::TempDir()) /
              ("scratch_folder_test_" + std::to_string(::getpid()));
    fs::remove_all(parent_);
  }
  void TearDown() override { fs::remove_all(parent_); }

  [[nodiscard]] int Count() const {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(parent_))
      ++count;
    return count;
  }

  fs::path parent_;
};

// Long enough ago that it cannot be just being made.
void MakeOld(const fs::path& folder) {
  fs::last_write_time(folder,
                      fs::file_time_type::clock::now() - std::chrono::hours(1));
}

TEST_F(ScratchFolderTest, ItGoesWithEverythingInIt) {
  {
    const auto folder = ScratchFolder::Create(parent_);
    ASSERT_TRUE(folder);
    std::ofstream(folder->path() / "file") << "text";
    EXPECT_EQ(Count(), 1);
  }
  EXPECT_EQ(Count(), 0);
}

TEST_F(ScratchFolderTest, AMovedFolderGoesOnce) {
  auto folder = ScratchFolder::Create(parent_);
  ASSERT_TRUE(folder);
  const fs::path path = folder->path();
  {
    const ScratchFolder moved = *std::move(folder);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ScratchFolderTest, TheFolderOfAKilledProcessGoesWithTheNextOne) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto folder = ScratchFolder::Create(parent_);
    std::ofstream(folder->path() / "file") << "text";
    MakeOld(folder->path());
    [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  {
    // Its holder lives: let be.
    const auto folder = ScratchFolder::Create(parent_);
    EXPECT_EQ(Count(), 2);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_EQ(Count(), 1);
  const auto folder = ScratchFolder::Create(parent_);
  EXPECT_EQ(Count(), 1);
  EXPECT_FALSE(fs::exists(folder->path() / "file"));
}

TEST_F(ScratchFolderTest, OtherFilesBesideItAreLetBe) {
  fs::create_directories(parent_ / "other");
  MakeOld(parent_ / "other");
  {
    const auto folder = ScratchFolder::Create(parent_);
  }
  EXPECT_TRUE(fs::exists(parent_ / "other"));
}

TEST_F(ScratchFolderTest, AParentThatCannotBeMadeIsNamed) {
  std::ofstream(parent_) << "a file";
  const auto folder = ScratchFolder::Create(parent_ / "inside");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kIo);
  EXPECT_NE(folder.error().message.find(parent_.string()), std::string::npos);
}

}  // namespace
}  // namespace parity
