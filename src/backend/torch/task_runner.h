// Runs pieces of a computation side by side.
#ifndef PARITY_BACKEND_TORCH_TASK_RUNNER_H_
#define PARITY_BACKEND_TORCH_TASK_RUNNER_H_

#include <cstdint>
#include <functional>

namespace parity {

// libtorch's own threads (OpenMP) wait for each other by spinning, which costs
// up to twenty times the computation when another process wants the same cores:
// and here one always does, the other side of the validation. These threads
// sleep instead; inside a task libtorch must be limited to one thread
// (at::set_num_threads).
class TaskRunner {
 public:
  // At least one.
  explicit TaskRunner(int threads) : threads_(threads < 1 ? 1 : threads) {}

  [[nodiscard]] int threads() const { return threads_; }

  // Calls task(0) … task(count − 1) in any order, some at a time, in inference
  // mode; tasks called from inside a task run one after another. Rethrows the
  // first exception after the others have ended.
  void ForEach(std::int64_t count,
               const std::function<void(std::int64_t)>& task) const;

 private:
  int threads_;
};

}  // namespace parity

#endif  // PARITY_BACKEND_TORCH_TASK_RUNNER_H_
