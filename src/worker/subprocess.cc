// A child is tied to this process in two ways. PR_SET_PDEATHSIG kills it when
// the *thread* that forked it ends, so all forks are done by one thread that
// lives as long as the process (a worker started by a short-lived thread would
// otherwise die with that thread). And a table of process groups in fixed
// storage lets a signal handler kill them all.
#include "worker/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <format>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "worker/frame.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTailBytes = std::size_t{64} * 1024;
// What a child may print while nobody listens; the kernel's default limit for
// ordinary users.
constexpr int kPipeBytes = 1 << 20;
constexpr int kFailedToExec = 127;

constexpr std::size_t kMaxWorkers = 64;
std::array<std::atomic<pid_t>, kMaxWorkers> workers;
static_assert(std::atomic<pid_t>::is_always_lock_free);

bool Remember(pid_t pid) {
  for (std::atomic<pid_t>& worker : workers) {
    pid_t none = 0;
    if (worker.compare_exchange_strong(none, pid)) return true;
  }
  return false;
}

void Forget(pid_t pid) {
  for (std::atomic<pid_t>& worker : workers) {
    pid_t expected = pid;
    if (worker.compare_exchange_strong(expected, 0)) return;
  }
}

// Everything the child needs between fork and exec, made beforehand: there it
// may only call async-signal-safe functions.
struct ChildPlan {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int null;
  int output;
  int socket;
  int status;  // receives errno when something fails
  pid_t parent;
  std::int64_t memory_limit_bytes;
};

[[noreturn]] void FailChild(const ChildPlan& plan) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t written =
      ::write(plan.status, &reason, sizeof(reason));
  ::_exit(kFailedToExec);
}

void ResetSignals() {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  for (const int signal :
       {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD, SIGABRT}) {
    ::sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void SetLimits(const ChildPlan& plan) {
  // A crash is reported, not dumped beside the user's files.
  const struct rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (plan.memory_limit_bytes <= 0) return;
  const auto limit = static_cast<rlim_t>(plan.memory_limit_bytes);
  const struct rlimit data{.rlim_cur = limit, .rlim_max = limit};
  if (::setrlimit(RLIMIT_DATA, &data) != 0) FailChild(plan);
}

[[noreturn]] void RunChild(const ChildPlan& plan) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the line above.
  if (::getppid() != plan.parent) ::_exit(kFailedToExec);
  ResetSignals();
  if (::dup2(plan.null, STDIN_FILENO) < 0 ||
      ::dup2(plan.output, STDOUT_FILENO) < 0 ||
      ::dup2(plan.output, STDERR_FILENO) < 0 ||
      ::dup2(plan.socket, kWorkerSocket) < 0) {
    FailChild(plan);
  }
  // Descriptors that others in this process opened without close-on-exec. The
  // call is missing before Linux 5.11, where they stay open.
  ::close_range(kWorkerSocket + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  SetLimits(plan);
  ::execve(plan.program, plan.arguments, plan.environment);
  FailChild(plan);
}

// The thread that forks. Never ends, so it is never joined either.
class ForkThread {
 public:
  static ForkThread& Instance() {
    static ForkThread& instance = *new ForkThread;
    return instance;
  }

  // Negative with errno set on failure.
  pid_t Fork(const ChildPlan& plan) {
    const std::lock_guard one_caller(callers_);
    std::unique_lock lock(mutex_);
    plan_ = &plan;
    changed_.notify_all();
    changed_.wait(lock, [this] { return plan_ == nullptr; });
    errno = reason_;
    return pid_;
  }

 private:
  ForkThread() {
    std::thread([this] { Serve(); }).detach();
  }

  [[noreturn]] void Serve() {
    // Signals are for the program's own threads.
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return plan_ != nullptr; });
      pid_ = ::fork();
      reason_ = errno;
      if (pid_ == 0) RunChild(*plan_);
      plan_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex callers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  const ChildPlan* plan_ = nullptr;
  pid_t pid_ = 0;
  int reason_ = 0;
};

std::unexpected<Error> CannotStart(const SubprocessOptions& options,
                                   int reason) {
  const ErrorCode code = reason == ENOENT || reason == ENOTDIR
                             ? ErrorCode::kNotFound
                             : ErrorCode::kIo;
  return Fail(code, std::format("cannot start {}: {}", options.program.string(),
                                std::strerror(reason)));
}

// Descriptors 0 to kWorkerSocket are overwritten in the child, so none that it
// still needs may be among them (a parent started without standard input has
// those numbers free).
UniqueFd MoveUp(UniqueFd descriptor) {
  if (!descriptor.valid() || descriptor.get() > kWorkerSocket)
    return descriptor;
  return UniqueFd(
      ::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kWorkerSocket + 1));
}

struct Pair {
  UniqueFd ours;
  UniqueFd childs;

  [[nodiscard]] bool valid() const { return ours.valid() && childs.valid(); }
};

Pair MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {.ours = MoveUp(UniqueFd(ends[0])),
          .childs = MoveUp(UniqueFd(ends[1]))};
}

Pair MakeSocketPair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return {};
  return {.ours = MoveUp(UniqueFd(ends[0])),
          .childs = MoveUp(UniqueFd(ends[1]))};
}

bool SetNonBlocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

// 0 once the program runs, or the errno with which the child failed before
// that: the pipe closes by itself on exec.
int ExecResult(int status) {
  int reason = 0;
  ssize_t count = 0;
  do {
    count = ::read(status, &reason, sizeof(reason));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(reason) ? reason : 0;
}

// Null-terminated, as exec wants it. Borrows `words`.
std::vector<char*> Argv(std::vector<std::string>& words) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return argv;
}

// This process's environment for a worker. Threads of OpenMP wait for each
// other by spinning unless told otherwise, and the other side of the validation
// wants the same cores: that made runs up to twenty times slower.
std::vector<std::string> WorkerEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  if (::getenv("OMP_WAIT_POLICY") == nullptr)
    variables.emplace_back("OMP_WAIT_POLICY=passive");
  return variables;
}

// Whether the child has ended; it stays a zombie, so its number stays its own.
bool HasEnded(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info,
                  WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != EINTR) return true;  // ECHILD: someone else has reaped it
  }
  return info.si_pid == pid;
}

ExitStatus Reap(pid_t pid) {
  int status = 0;
  struct rusage usage{};
  pid_t waited = 0;
  do {
    waited = ::wait4(pid, &status, 0, &usage);
  } while (waited < 0 && errno == EINTR);
  ExitStatus result{.peak_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024};
  if (waited != pid) return result;
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace

std::string ExitStatus::Describe() const {
  if (signal == 0) return std::format("exited with code {}", code);
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr
             ? std::format("was killed by signal {}", signal)
             : std::format("was killed by signal {} (SIG{})", signal, name);
}

Result<Subprocess> Subprocess::Start(const SubprocessOptions& options) {
  Pair socket = MakeSocketPair();
  Pair output = MakePipe();
  Pair status = MakePipe();
  UniqueFd null = MoveUp(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!socket.valid() || !output.valid() || !status.valid() || !null.valid() ||
      !SetNonBlocking(socket.ours.get()) ||
      !SetNonBlocking(output.ours.get())) {
    return CannotStart(options, errno);
  }
  ::fcntl(output.ours.get(), F_SETPIPE_SZ, kPipeBytes);

  std::vector<std::string> words = {options.program.string()};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  const std::vector<char*> argv = Argv(words);
  std::vector<std::string> variables = WorkerEnvironment();
  const std::vector<char*> environment = Argv(variables);
  const pid_t pid = ForkThread::Instance().Fork(
      {.program = argv[0],
       .arguments = argv.data(),
       .environment = environment.data(),
       .null = null.get(),
       .output = output.childs.get(),
       .socket = socket.childs.get(),
       .status = status.childs.get(),
       .parent = ::getpid(),
       .memory_limit_bytes = options.memory_limit_bytes});
  if (pid < 0) return CannotStart(options, errno);
  // The object kills and reaps the child whatever fails from here on.
  Subprocess started(pid, std::move(socket.ours), std::move(output.ours));
  if (!Remember(pid)) {
    return Fail(ErrorCode::kIo,
                std::format("cannot start {}: {} workers run already",
                            options.program.string(), kMaxWorkers));
  }
  status.childs.reset();
  const int reason = ExecResult(status.ours.get());
  if (reason != 0) return CannotStart(options, reason);
  return started;
}

Subprocess::Subprocess(pid_t pid, UniqueFd socket, UniqueFd output)
    : pid_(pid), socket_(std::move(socket)), output_(std::move(output)) {}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      reaped_(std::exchange(other.reaped_, true)),
      status_(other.status_),
      socket_(std::move(other.socket_)),
      output_(std::move(other.output_)),
      tail_(std::move(other.tail_)) {}

Subprocess::~Subprocess() {
  if (!reaped_) Wait(std::chrono::milliseconds(0));
}

void Subprocess::DrainOutput() {
  std::array<char, 16384> block;
  while (output_.valid()) {
    const ssize_t count = ::read(output_.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0 || (count < 0 && errno != EAGAIN)) output_.reset();
    if (count <= 0) return;
    tail_.append(block.data(), static_cast<std::size_t>(count));
    if (tail_.size() <= kTailBytes) continue;
    const std::size_t line_end =
        tail_.find('\n', tail_.size() - kTailBytes - 1);
    tail_.erase(0, line_end == std::string::npos ? tail_.size() - kTailBytes
                                                 : line_end + 1);
  }
}

bool Subprocess::AwaitSocket(Direction direction,
                             std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  const short events = direction == Direction::kRead ? POLLIN : POLLOUT;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    std::array<struct pollfd, 2> waiting = {
        {{.fd = socket_.get(), .events = events, .revents = 0},
         {.fd = output_.get(), .events = POLLIN, .revents = 0}}};
    ::poll(waiting.data(), waiting.size(),
           static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (waiting[1].revents != 0) DrainOutput();
    if (waiting[0].revents != 0) return true;
    // A child that has left others behind, which hold its end of the socket:
    // what it has sent can still be read, and then the end.
    if (HasEnded(pid_)) {
      Kill();
      ::shutdown(socket_.get(), SHUT_RDWR);
    }
    if (Clock::now() >= deadline) return false;
  }
}

void Subprocess::Kill() {
  if (!reaped_) ::kill(-pid_, SIGKILL);
}

ExitStatus Subprocess::Wait(std::chrono::milliseconds grace) {
  if (reaped_) return status_;
  const Clock::time_point deadline = Clock::now() + grace;
  bool killed = false;
  while (!HasEnded(pid_)) {
    if (Clock::now() >= deadline) {
      // The number alone too: the child may have left its group.
      Kill();
      ::kill(pid_, SIGKILL);
      killed = true;
      break;
    }
    DrainOutput();
    // The output closes with the child's end; then its exit is at most moments
    // away.
    struct pollfd waiting{.fd = output_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waiting, 1, 1);
  }
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) !=
             0 &&
         errno == EINTR) {
  }
  Kill();  // what the child has left behind in its group
  Forget(pid_);
  DrainOutput();
  status_ = Reap(pid_);
  status_.killed_here = killed;
  reaped_ = true;
  return status_;
}

bool ClaimWorkerSocket() {
  struct stat status{};
  return ::fstat(kWorkerSocket, &status) == 0 && S_ISSOCK(status.st_mode) &&
         ::fcntl(kWorkerSocket, F_SETFD, FD_CLOEXEC) == 0;
}

void KillAllWorkers() {
  const int saved = errno;
  for (const std::atomic<pid_t>& worker : workers) {
    const pid_t pid = worker.load();
    if (pid > 0) ::kill(-pid, SIGKILL);
  }
  errno = saved;
}

}  // namespace parity
