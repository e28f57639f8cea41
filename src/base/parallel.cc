#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace parity {

int CoreCount() {
  // Schedulers and taskset give a process some of the machine's cores, which
  // std::thread::hardware_concurrency() does not see.
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0)
    return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(std::int64_t count, int threads,
                 const std::function<void(std::int64_t)>& work) {
  // Pieces are handed out one by one: a thread that the system delays takes
  // fewer of them.
  std::atomic<std::int64_t> next{0};
  const auto take = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  const std::int64_t wanted =
      std::min<std::int64_t>(threads > 0 ? threads : CoreCount(), count);
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < wanted; ++t) {
    try {
      others.emplace_back(take);
    } catch (const std::system_error&) {
      break;  // out of threads: those that run finish the loop
    }
  }
  take();
}

}  // namespace parity
