// A side that runs in a worker process.
#ifndef PARITY_WORKER_WORKER_CLIENT_H_
#define PARITY_WORKER_WORKER_CLIENT_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"
#include "worker/frame.h"
#include "worker/messages.h"
#include "worker/subprocess.h"

namespace parity {

struct WorkerOptions {
  std::string side{};               // "reference" or "candidate"
  std::filesystem::path program{};  // worker/worker_path.h finds it
  std::vector<std::string> arguments{};
  // For each request: how long its answer may take; for one of several runs as
  // often as it runs. Not positive: no limit.
  std::chrono::milliseconds timeout{600'000};
  std::int64_t memory_limit_bytes = 0;  // see SubprocessOptions; 0 = none
  // Set by a signal handler to end every wait with kInterrupted; null: never.
  const std::atomic<bool>* interrupted = nullptr;
};

// Not thread-safe; different clients may be used by different threads. Every
// way in which the worker can fail is a kWorkerDied error that names the side,
// how it failed, and what it printed last; the worker is gone then, and the
// next Start() or Load() makes a new one. Outputs of Run() borrow from shared
// memory and outlive the client.
class WorkerClient : public Backend {
 public:
  explicit WorkerClient(WorkerOptions options);

  [[nodiscard]] std::string name() const override { return options_.side; }

  // Starts the worker and does not wait for it, so that it can come up while
  // the caller has other work. Nothing to do when it runs already. Load() calls
  // it.
  [[nodiscard]] Status Start();
  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override;
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override;

  // Kills the worker without waiting for its end: frees the processor for
  // others. The destructor waits.
  void Kill();
  // Asks the worker to end by itself, and returns how it did.
  [[nodiscard]] Result<ExitStatus> Quit();

  // The worker's process number; 0 when there is none.
  [[nodiscard]] pid_t pid() const {
    return process_ == nullptr ? 0 : process_->pid();
  }

 private:
  [[nodiscard]] Status Greet();
  [[nodiscard]] Result<Frame> Call(const WorkerRequest& request, int descriptor,
                                   std::string_view doing);
  [[nodiscard]] Result<Frame> Receive(const FrameWaiter& wait,
                                      std::string_view doing);
  [[nodiscard]] FrameWaiter Waiter(std::string_view doing,
                                   std::chrono::milliseconds timeout);

  // "the candidate worker (ONNX Runtime)"
  [[nodiscard]] std::string Who() const;
  // The error for the user. These end the worker.
  [[nodiscard]] Error ConnectionError(Error error, std::string_view doing);
  [[nodiscard]] Error Died(std::string_view doing);
  [[nodiscard]] Error TimedOut(std::string_view doing,
                               std::chrono::milliseconds timeout);
  [[nodiscard]] Error BrokeProtocol(std::string_view how,
                                    std::string_view doing);
  // For an error in place of a reply: the worker's own, after which it goes on,
  // or that of a message that makes no sense.
  [[nodiscard]] Error ReplyError(Error error, std::string_view doing);
  [[nodiscard]] Error OutOfMemory(std::string_view words,
                                  std::string_view doing) const;
  struct Ending {
    ExitStatus status{};
    std::string last_words{};
  };
  // Waits `grace` for the worker to end by itself.
  Ending End(std::chrono::milliseconds grace);
  [[nodiscard]] bool Interrupted() const;

  WorkerOptions options_;
  std::unique_ptr<Subprocess> process_;  // null: none runs
  bool greeted_ = false;
  std::string
      backend_;  // as the worker calls itself; its program's name before
};

}  // namespace parity

#endif  // PARITY_WORKER_WORKER_CLIENT_H_
