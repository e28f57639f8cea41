#include "worker/subprocess.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "worker/frame.h"

namespace parity {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr milliseconds kLong(60'000);

Result<Subprocess> Shell(const std::string& script,
                         std::int64_t memory_limit = 0) {
  return Subprocess::Start({.program = "/bin/sh",
                            .arguments = {"-c", script},
                            .memory_limit_bytes = memory_limit});
}

std::ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       {});
}

// Whether such a process exists; a zombie is none that runs.
bool Runs(pid_t pid) {
  std::ifstream status(std::format("/proc/{}/stat", pid));
  std::string text((std::istreambuf_iterator<char>(status)), {});
  const std::size_t end = text.rfind(')');
  return end != std::string::npos && text.substr(end, 4) != ") Z ";
}

bool EndsSoon(pid_t pid) {
  for (int i = 0; i < 1000 && Runs(pid); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  return !Runs(pid);
}

TEST(SubprocessTest, EndingsAreDescribed) {
  struct Case {
    std::string script;
    std::string description;
  };
  for (const Case& c :
       {Case{"exit 0", "exited with code 0"},
        Case{"exit 134", "exited with code 134"},
        Case{"kill -SEGV $$", "was killed by signal 11 (SIGSEGV)"},
        Case{"kill -ABRT $$", "was killed by signal 6 (SIGABRT)"},
        Case{"kill -KILL $$", "was killed by signal 9 (SIGKILL)"}}) {
    auto process = Shell(c.script);
    ASSERT_TRUE(process.has_value()) << process.error().message;
    EXPECT_EQ(process->Wait(kLong).Describe(), c.description);
    EXPECT_EQ(process->Wait(kLong).Describe(), c.description);
  }
}

TEST(SubprocessTest, APathThatIsNoProgramIsAnErrorThatNamesIt) {
  struct Case {
    std::string program;
    ErrorCode code;
    std::string reason;
  };
  for (const Case& c :
       {Case{"/nowhere/worker", ErrorCode::kNotFound,
             "No such file or directory"},
        Case{"/etc/passwd", ErrorCode::kIo, "Permission denied"},
        Case{"/", ErrorCode::kIo, "Permission denied"}}) {
    const auto process = Subprocess::Start({.program = c.program});
    ASSERT_FALSE(process.has_value());
    EXPECT_EQ(process.error().code, c.code);
    EXPECT_EQ(process.error().message,
              std::format("cannot start {}: {}", c.program, c.reason));
  }
}

TEST(SubprocessTest, OutputAndErrorsAreCapturedInOrder) {
  auto process = Shell("echo one; echo two >&2; printf three");
  ASSERT_TRUE(process.has_value());
  process->Wait(kLong);
  EXPECT_EQ(process->output_tail(), "one\ntwo\nthree");
}

TEST(SubprocessTest, OnlyTheEndOfALongOutputIsKept) {
  auto process = Shell("yes 123456789012345 | head -c 5000000; echo end");
  ASSERT_TRUE(process.has_value());
  process->Wait(kLong);
  EXPECT_LE(process->output_tail().size(), 65536U);
  EXPECT_GT(process->output_tail().size(), 65536U - 16U);
  EXPECT_TRUE(process->output_tail().starts_with("123456789012345\n"));
  EXPECT_TRUE(process->output_tail().ends_with("\nend\n"));
}

TEST(SubprocessTest, StandardInputIsEmpty) {
  auto process = Shell("wc -c");
  ASSERT_TRUE(process.has_value());
  process->Wait(kLong);
  EXPECT_EQ(process->output_tail(), "0\n");
}

TEST(SubprocessTest,
     WorkersThreadsSleepWhileTheyWaitUnlessTheUserSaysOtherwise) {
  const auto policy = [] {
    Result<Subprocess> child = Shell("printf %s \"$OMP_WAIT_POLICY\"");
    EXPECT_TRUE(child.has_value());
    child->Wait(kLong);
    return std::string(child->output_tail());
  };
  ::unsetenv("OMP_WAIT_POLICY");
  EXPECT_EQ(policy(), "passive");
  ::setenv("OMP_WAIT_POLICY", "active", 1);
  EXPECT_EQ(policy(), "active");
  ::unsetenv("OMP_WAIT_POLICY");
}

TEST(SubprocessTest, NoOtherDescriptorIsInherited) {
  // On purpose without close-on-exec.
  const UniqueFd leaky(::open("/dev/null", O_RDONLY));
  auto process = Shell(
      "i=0; while [ $i -lt 100 ]; do "
      "if [ -e /proc/$$/fd/$i ]; then echo $i; fi; i=$((i+1)); done");
  ASSERT_TRUE(process.has_value());
  process->Wait(kLong);
  EXPECT_EQ(process->output_tail(), "0\n1\n2\n3\n");
}

TEST(SubprocessTest, ThisProcessKeepsNoDescriptorAndNoZombie) {
  {
    auto first = Shell("exit 1");
  }
  const std::ptrdiff_t before = OpenDescriptors();
  for (int i = 0; i < 20; ++i) {
    auto process = Shell(i % 2 == 0 ? "exit 1" : "sleep 1000");
    ASSERT_TRUE(process.has_value());
    EXPECT_FALSE(Subprocess::Start({.program = "/nowhere"}).has_value());
  }
  EXPECT_EQ(OpenDescriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(SubprocessTest, TheWholeGroupDies) {
  auto process = Shell("sleep 1000 & echo $!; wait");
  ASSERT_TRUE(process.has_value());
  while (!process->output_tail().ends_with('\n'))
    EXPECT_FALSE(process->AwaitSocket(Direction::kRead, milliseconds(1)));
  const pid_t grandchild = std::stoi(std::string(process->output_tail()));
  EXPECT_TRUE(Runs(grandchild));
  const pid_t child = process->pid();
  EXPECT_EQ(process->Wait(milliseconds(0)).signal, SIGKILL);
  EXPECT_FALSE(Runs(child));
  EXPECT_TRUE(EndsSoon(grandchild));
}

TEST(SubprocessTest, AGrandchildLeftBehindDiesWithTheEndOfTheChild) {
  auto process = Shell("sleep 1000 & echo $!");
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->Wait(kLong).Describe(), "exited with code 0");
  EXPECT_TRUE(EndsSoon(std::stoi(std::string(process->output_tail()))));
}

TEST(SubprocessTest, AWorkerOutlivesTheThreadThatStartedIt) {
  Result<Subprocess> process = Fail(ErrorCode::kIo, "not started");
  std::thread([&] {
    auto started = Shell("read line <&3; exit 7");
    if (started) process.emplace(*std::move(started));
  }).join();
  ASSERT_TRUE(process.has_value());
  // Long enough for a signal on the thread's end to have arrived.
  EXPECT_FALSE(process->AwaitSocket(Direction::kRead, milliseconds(100)));
  EXPECT_TRUE(Runs(process->pid()));
  ASSERT_EQ(::write(process->socket(), "\n", 1), 1);
  EXPECT_EQ(process->Wait(kLong).Describe(), "exited with code 7");
}

TEST(SubprocessTest, AWorkerDiesWithItsParentHoweverThatEnds) {
  // The parent in between is killed like a tool that has no chance to clean up.
  auto parent = Subprocess::Start(
      {.program = PARITY_FAKE_WORKER, .arguments = {"parent"}});
  ASSERT_TRUE(parent.has_value());
  while (!parent->output_tail().ends_with('\n'))
    ASSERT_FALSE(parent->AwaitSocket(Direction::kRead, milliseconds(1)));
  const pid_t worker = std::stoi(std::string(parent->output_tail()));
  EXPECT_TRUE(Runs(worker));
  // Only the parent: the worker has a group of its own.
  ASSERT_EQ(::kill(parent->pid(), SIGKILL), 0);
  EXPECT_TRUE(EndsSoon(worker));
}

TEST(SubprocessTest, KillAllWorkersKillsEachAndNothingElse) {
  std::vector<Subprocess> processes;
  for (int i = 0; i < 3; ++i) {
    auto process = Shell("sleep 1000");
    ASSERT_TRUE(process.has_value());
    processes.push_back(*std::move(process));
  }
  KillAllWorkers();
  for (Subprocess& process : processes)
    EXPECT_EQ(process.Wait(kLong).signal, SIGKILL);
  KillAllWorkers();
}

TEST(SubprocessTest, ManyThreadsStartWorkers) {
  constexpr int kThreads = 8;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      auto process = Shell(std::format("exit {}", i));
      ASSERT_TRUE(process.has_value());
      EXPECT_EQ(process->Wait(kLong).code, i);
    });
  }
}

TEST(SubprocessTest, PeakMemoryIsMeasured) {
  auto process = Shell("head -c 50000000 /dev/zero | tail -c 50000000 | wc -c");
  ASSERT_TRUE(process.has_value());
  EXPECT_GT(process->Wait(kLong).peak_rss_bytes, 1'000'000);
}

TEST(SubprocessTest, SignalsThatThisProcessIgnoresAreNotIgnoredByTheChild) {
  std::signal(SIGPIPE, SIG_IGN);
  auto process = Shell("kill -PIPE $$; exit 3");
  std::signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(process.has_value());
  EXPECT_EQ(process->Wait(kLong).Describe(),
            "was killed by signal 13 (SIGPIPE)");
}

TEST(SubprocessTest, AProgramStartedByHandHasNoSocketToClaim) {
  // The tests' own descriptor 3 is whatever the runner left there.
  const UniqueFd saved(::fcntl(kWorkerSocket, F_DUPFD_CLOEXEC, 10));
  ::close(kWorkerSocket);
  EXPECT_FALSE(ClaimWorkerSocket());
  if (saved.valid()) ::dup2(saved.get(), kWorkerSocket);
}

}  // namespace
}  // namespace parity
