// Starts worker processes and gets rid of them: the only code that forks, kills
// and waits.
#ifndef PARITY_WORKER_SUBPROCESS_H_
#define PARITY_WORKER_SUBPROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"
#include "worker/frame.h"

namespace parity {

// The descriptor on which a worker finds its end of the socket pair.
inline constexpr int kWorkerSocket = 3;

struct SubprocessOptions {
  std::filesystem::path program{};
  std::vector<std::string> arguments{};  // without the program's name
  // Limit of private writable memory (RLIMIT_DATA): heap, stacks and anonymous
  // mappings, counted when they are made; mapped files and shared memory are
  // free. An allocation beyond it fails. 0 = no limit.
  std::int64_t memory_limit_bytes = 0;
};

// How a process ended.
struct ExitStatus {
  int signal = 0;            // 0: it exited by itself
  int code = 0;              // where signal is 0
  bool killed_here = false;  // because it did not end in time
  // Of the whole life of the process, the moment between fork and exec
  // included: an upper bound.
  std::int64_t peak_rss_bytes = 0;

  // "was killed by signal 6 (SIGABRT)", "exited with code 134".
  [[nodiscard]] std::string Describe() const;
};

// A child process in a process group of its own, with nothing on standard
// input, a socket on descriptor kWorkerSocket, and its standard output and
// error captured. It never outlives this object, nor this process however that
// ends. Not thread-safe; different objects may be used by different threads.
class Subprocess {
 public:
  // Errors: kNotFound and kIo with the system's reason, naming the program.
  [[nodiscard]] static Result<Subprocess> Start(
      const SubprocessOptions& options);
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) = delete;
  // Kills what still runs.
  ~Subprocess();

  // This side's end of the socket pair. Non-blocking.
  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }

  // Waits until socket() can be read (or written) or is closed by the child,
  // and takes in what the child prints meanwhile. False when `limit` has
  // passed.
  [[nodiscard]] bool AwaitSocket(Direction direction,
                                 std::chrono::milliseconds limit);
  // The end of what the child has printed, as far as taken in: at most 64 KiB,
  // of whole lines where it has any.
  [[nodiscard]] std::string_view output_tail() const { return tail_; }

  // Sends SIGKILL to the whole group, without waiting.
  void Kill();
  // Waits for the child to end, at most `grace`, then kills it; ends its whole
  // group and takes in its last output. The same answer when called again.
  ExitStatus Wait(std::chrono::milliseconds grace);

 private:
  Subprocess(pid_t pid, UniqueFd socket, UniqueFd output);
  void DrainOutput();

  pid_t pid_ = 0;
  bool reaped_ = false;
  ExitStatus status_;
  UniqueFd socket_;
  UniqueFd output_;
  std::string tail_;
};

// For the worker itself: whether it was started by a Subprocess, and so has a
// socket on kWorkerSocket, which no program it starts will inherit from now on.
[[nodiscard]] bool ClaimWorkerSocket();

// Sends SIGKILL to every child of every Subprocess. Async-signal-safe: for the
// handlers of SIGINT and SIGTERM.
void KillAllWorkers();

}  // namespace parity

#endif  // PARITY_WORKER_SUBPROCESS_H_
