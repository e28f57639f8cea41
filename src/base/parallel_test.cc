#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parity {
namespace {

TEST(ParallelForTest, CallsEveryIndexExactlyOnce) {
  for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
    for (const int threads : {0, 1, 2, 5}) {
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
      ParallelFor(count, threads, [&](std::int64_t i) {
        ++calls[static_cast<std::size_t>(i)];
      });
      for (const std::atomic<int>& n : calls) EXPECT_EQ(n, 1);
    }
  }
}

TEST(ParallelForTest, MoreThreadsThanOneRunAtTheSameTime) {
  // Each of the two pieces waits for the other: one thread would never return.
  std::atomic<int> arrived{0};
  ParallelFor(2, 2, [&](std::int64_t) {
    ++arrived;
    while (arrived < 2) {
    }
  });
  EXPECT_EQ(arrived, 2);
}

TEST(CoreCountTest, CoresThatThisProcessMayNotUseDoNotCount) {
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(all), &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
    if (CPU_ISSET(core, &all)) CPU_SET(core, &one);
  }
  ASSERT_EQ(::sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(CoreCount(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof(all), &all), 0);
  EXPECT_EQ(CoreCount(), CPU_COUNT(&all));
}

}  // namespace
}  // namespace parity
