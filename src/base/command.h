// Runs a program of the user's system to its end and keeps what it printed.
#ifndef PARITY_BASE_COMMAND_H_
#define PARITY_BASE_COMMAND_H_

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "parity/error.h"

namespace parity {

struct CommandOptions {
  // The first is the program: a path, or a name to find on PATH. No shell sees
  // them.
  std::vector<std::string> words{};
  std::chrono::milliseconds timeout = std::chrono::minutes(10);
  const std::atomic<bool>* interrupted = nullptr;  // set to stop early
};

struct CommandResult {
  int exit_code = 0;  // 128 + signal when it was killed, as shells have it
  std::string out{};  // at most 16 MB of each; the rest is dropped
  std::string err{};
};

// Runs it with nothing on standard input, in a process group of its own, which
// is killed as a whole when the time is over, when interrupted, and when the
// program ends before what it started. How it ended is a result.
// Errors: kNotFound when there is no such program, kIo when it cannot be
// started or takes too long, kInterrupted; all naming the program.
[[nodiscard]] Result<CommandResult> RunCommand(const CommandOptions& options);

}  // namespace parity

#endif  // PARITY_BASE_COMMAND_H_
