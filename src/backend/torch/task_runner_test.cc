#include "backend/torch/task_runner.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

namespace parity {
namespace {

TEST(TaskRunnerTest, EveryTaskRunsOnce) {
  for (const int threads : {-3, 0, 1, 2, 7}) {
    for (const std::int64_t count : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      TaskRunner(threads).ForEach(count, [&](std::int64_t i) {
        ++calls.at(static_cast<std::size_t>(i));
      });
      for (const std::atomic<int>& call : calls) EXPECT_EQ(call, 1);
    }
  }
}

TEST(TaskRunnerTest, TasksOfTasksStayOnTheirThread) {
  const TaskRunner runner(3);
  std::atomic<int> strays = 0;
  runner.ForEach(6, [&](std::int64_t) {
    const std::thread::id here = std::this_thread::get_id();
    runner.ForEach(5, [&](std::int64_t) {
      if (std::this_thread::get_id() != here) ++strays;
    });
  });
  EXPECT_EQ(strays, 0);
}

TEST(TaskRunnerTest, AnExceptionReachesTheCaller) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<int> calls = 0;
    EXPECT_THROW(TaskRunner(threads).ForEach(50,
                                             [&](std::int64_t) {
                                               ++calls;
                                               throw std::runtime_error("no");
                                             }),
                 std::runtime_error);
    EXPECT_LE(calls, threads);
    // It works again afterwards.
    std::atomic<int> later = 0;
    TaskRunner(threads).ForEach(9, [&](std::int64_t) { ++later; });
    EXPECT_EQ(later, 9);
  }
}

TEST(TaskRunnerTest, EveryThreadIsInInferenceMode) {
  for (const int threads : {1, 2}) {
    std::atomic<int> recorded = 0;
    TaskRunner(threads).ForEach(8, [&](std::int64_t) {
      if (!at::ones({1}).is_inference()) ++recorded;
    });
    EXPECT_EQ(recorded, 0);
  }
}

}  // namespace
}  // namespace parity
