#include "base/parallel.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace parity
