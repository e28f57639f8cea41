// Elapsed time.
#ifndef PARITY_BASE_STOPWATCH_H_
#define PARITY_BASE_STOPWATCH_H_

#include <chrono>
#include <ratio>

namespace parity {

// Runs from its construction on.
class Stopwatch {
 public:
  [[nodiscard]] double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_)
        .count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace parity

#endif  // PARITY_BASE_STOPWATCH_H_
