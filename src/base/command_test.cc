#include "base/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "parity/error.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

TEST(CommandTest, BothOutputsAndTheExitCodeAreKept) {
  const Result<CommandResult> result =
      RunCommand({.words = {"sh", "-c", "echo one; echo two >&2; exit 3"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->out, "one\n");
  EXPECT_EQ(result->err, "two\n");
  EXPECT_EQ(result->exit_code, 3);
}

TEST(CommandTest, WordsReachTheProgramAsTheyAre) {
  const Result<CommandResult> result =
      RunCommand({.words = {"printf", "%s|", "a b", "$HOME", "*", ""}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->out, "a b|$HOME|*||");
}

TEST(CommandTest, NothingIsOnStandardInput) {
  const Result<CommandResult> result = RunCommand({.words = {"cat"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->out, "");
  EXPECT_EQ(result->exit_code, 0);
}

TEST(CommandTest, MoreThanAPipeHoldsComesThrough) {
  const Result<CommandResult> result =
      RunCommand({.words = {"head", "-c", "1000000", "/dev/zero"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->out.size(), 1000000U);
}

TEST(CommandTest, AProgramThatIsNotThereIsNotFound) {
  for (const char* program : {"no-such-program-of-parity", "/no/such", ""}) {
    const Result<CommandResult> result = RunCommand({.words = {program}});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(result.error().message, HasSubstr(program));
  }
}

TEST(CommandTest, AFileThatIsNoProgramIsSaidSo) {
  const Result<CommandResult> result = RunCommand({.words = {"/dev/null"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
}

TEST(CommandTest, ASignalIsAnExitCodeAsInShells) {
  const Result<CommandResult> result =
      RunCommand({.words = {"sh", "-c", "kill -TERM $$"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->exit_code, 128 + SIGTERM);
}

TEST(CommandTest, TimeIsLimited) {
  const Clock::time_point start = Clock::now();
  const Result<CommandResult> result = RunCommand(
      {.words = {"sleep", "60"}, .timeout = std::chrono::milliseconds(200)});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "sleep did not end within 0.2 s");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
}

TEST(CommandTest, AnInterruptionEndsItWithAllItStarted) {
  std::atomic<bool> interrupted = false;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    interrupted = true;
  });
  const Clock::time_point start = Clock::now();
  const Result<CommandResult> result =
      RunCommand({.words = {"sh", "-c", "sleep 60 & sleep 60"},
                  .interrupted = &interrupted});
  later.join();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
}

TEST(CommandTest, WhatTheProgramLeavesBehindIsEnded) {
  const Clock::time_point start = Clock::now();
  const Result<CommandResult> result =
      RunCommand({.words = {"sh", "-c", "sleep 60 & echo $!"}});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(20));
  const auto left = static_cast<pid_t>(std::atoi(result->out.c_str()));
  ASSERT_GT(left, 0);
  // Its own parent is gone: whoever inherits it may take a moment to reap it.
  for (int i = 0; i < 100 && ::kill(left, 0) == 0; ++i) {
    const Result<CommandResult> state =
        RunCommand({.words = {"grep", "State",
                              "/proc/" + std::to_string(left) + "/status"}});
    if (!state || state->out.empty() || state->out.contains("zombie")) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace parity
