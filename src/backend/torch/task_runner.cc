#include "backend/torch/task_runner.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace parity {
namespace {

thread_local bool inside_task = false;

}  // namespace

void TaskRunner::ForEach(std::int64_t count,
                         const std::function<void(std::int64_t)>& task) const {
  const std::int64_t threads = std::min<std::int64_t>(threads_, count);
  if (threads <= 1 || inside_task) {
    const c10::InferenceMode inference;
    for (std::int64_t i = 0; i < count; ++i) task(i);
    return;
  }
  std::atomic<std::int64_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    // Not inherited from the calling thread.
    const c10::InferenceMode inference;
    inside_task = true;
    try {
      for (std::int64_t i = next++; i < count; i = next++) task(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (failure == nullptr) failure = std::current_exception();
    }
    inside_task = false;
  };
  {
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace parity
