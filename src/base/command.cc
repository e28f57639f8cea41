#include "base/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <format>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOutput = std::size_t{16} * 1024 * 1024;
// How long an interruption may go unnoticed when no signal wakes poll().
constexpr std::chrono::milliseconds kPatience{50};

struct Pipe {
  UniqueFd reading;
  UniqueFd writing;
};

Result<Pipe> MakePipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Fail(ErrorCode::kIo, std::format("cannot start {}: {}", program,
                                            std::strerror(errno)));
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{.reading = UniqueFd(ends[0]), .writing = UniqueFd(ends[1])};
}

// What is done to the child before the program starts in it.
class SpawnPlan {
 public:
  SpawnPlan(int out, int err) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null",
                                       O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP |
                                                 POSIX_SPAWN_SETSIGDEF |
                                                 POSIX_SPAWN_SETSIGMASK);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP})
      ::sigaddset(&signals, signal);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  Result<pid_t> Start(std::vector<std::string> words) const {
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int reason = ::posix_spawnp(&pid, arguments[0], &actions_,
                                      &attributes_, arguments.data(), environ);
    if (reason == 0) return pid;
    return Fail(
        reason == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
        std::format("cannot start {}: {}", words[0], std::strerror(reason)));
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Takes in what is there. False once the other side has closed it.
bool Drain(int descriptor, std::string& text) {
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 && errno == EAGAIN;
    const std::size_t room = kMostOutput - text.size();
    text.append(block.data(), std::min(room, static_cast<std::size_t>(count)));
  }
}

// A started program. Killed with its group on destruction.
class RunningCommand {
 public:
  RunningCommand(pid_t pid, UniqueFd out, UniqueFd err)
      : pid_(pid), out_(std::move(out)), err_(std::move(err)) {}
  ~RunningCommand() {
    // As long as it is not reaped its number cannot be another group's.
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  // Takes in output for a moment. The result once the program has ended, even
  // if something it started still holds the pipes.
  std::optional<CommandResult> Step() {
    std::array<pollfd, 2> polls = {
        {{.fd = out_.get(), .events = POLLIN, .revents = 0},
         {.fd = err_.get(), .events = POLLIN, .revents = 0}}};
    ::poll(polls.data(), polls.size(), static_cast<int>(kPatience.count()));
    siginfo_t ended{};
    // Left unreaped, see the destructor.
    const bool over = ::waitid(P_PID, static_cast<id_t>(pid_), &ended,
                               WEXITED | WNOHANG | WNOWAIT) == 0 &&
                      ended.si_pid == pid_;
    if (out_.valid() && !Drain(out_.get(), result_.out)) out_.reset();
    if (err_.valid() && !Drain(err_.get(), result_.err)) err_.reset();
    if (!over) return std::nullopt;
    result_.exit_code =
        ended.si_code == CLD_EXITED ? ended.si_status : 128 + ended.si_status;
    return std::move(result_);
  }

 private:
  pid_t pid_;
  UniqueFd out_;
  UniqueFd err_;
  CommandResult result_;
};

}  // namespace

Result<CommandResult> RunCommand(const CommandOptions& options) {
  if (options.words.empty() || options.words.front().empty())
    return Fail(ErrorCode::kNotFound, "no program is named");
  const std::string& program = options.words.front();
  const Clock::time_point deadline = Clock::now() + options.timeout;
  PARITY_ASSIGN_OR_RETURN(Pipe out, MakePipe(program));
  PARITY_ASSIGN_OR_RETURN(Pipe err, MakePipe(program));
  PARITY_ASSIGN_OR_RETURN(
      const pid_t pid,
      SpawnPlan(out.writing.get(), err.writing.get()).Start(options.words));
  out.writing.reset();
  err.writing.reset();
  RunningCommand command(pid, std::move(out.reading), std::move(err.reading));
  while (true) {
    if (std::optional<CommandResult> result = command.Step())
      return *std::move(result);
    if (options.interrupted != nullptr && *options.interrupted)
      return Fail(ErrorCode::kInterrupted,
                  std::format("{} was interrupted", program));
    if (Clock::now() >= deadline) {
      return Fail(
          ErrorCode::kIo,
          std::format("{} did not end within {} s", program,
                      std::chrono::duration<double>(options.timeout).count()));
    }
  }
}

}  // namespace parity
