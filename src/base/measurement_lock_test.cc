#include "base/measurement_lock.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "parity/error.h"

namespace parity {
namespace {

// With a folder for temporary files of its own: real measurements of this user
// are not waited for.
class MeasurementLockTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("measurement_lock_test_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
    ::setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
};

TEST_F(MeasurementLockTest, TheSecondWaitsUntilTheFirstIsGone) {
  std::atomic<bool> first_is_there = false;
  std::atomic<bool> first_is_gone = false;
  std::atomic<bool> waited = false;
  std::thread first([&] {
    const auto lock = MeasurementLock::Take(nullptr, {});
    first_is_there = true;
    while (!waited) std::this_thread::yield();
    first_is_gone = true;
  });
  while (!first_is_there) std::this_thread::yield();
  const auto lock = MeasurementLock::Take(nullptr, [&] { waited = true; });
  EXPECT_TRUE(lock.has_value());
  EXPECT_TRUE(first_is_gone);
  first.join();
}

TEST_F(MeasurementLockTest, WhatIsFreeIsNotWaitedFor) {
  bool waited = false;
  {
    const auto first = MeasurementLock::Take(nullptr, {});
  }
  const auto second = MeasurementLock::Take(nullptr, [&] { waited = true; });
  EXPECT_FALSE(waited);
}

TEST_F(MeasurementLockTest, AnInterruptEndsTheWait) {
  const auto first = MeasurementLock::Take(nullptr, {});
  std::atomic<bool> interrupted = false;
  const auto second =
      MeasurementLock::Take(&interrupted, [&] { interrupted = true; });
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kInterrupted);
}

TEST_F(MeasurementLockTest, WithoutAFolderNobodyWaitsAndNoFileIsLeft) {
  const std::filesystem::path home = std::filesystem::current_path();
  const std::filesystem::path elsewhere = folder_.string() + "_current";
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(elsewhere);
  std::filesystem::current_path(elsewhere);
  EXPECT_TRUE(MeasurementLock::Take(nullptr, {}).has_value());
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere));
  std::filesystem::current_path(home);
  std::filesystem::remove_all(elsewhere);
}

}  // namespace
}  // namespace parity
