// A loop over independent pieces of work, on several threads.
#ifndef PARITY_BASE_PARALLEL_H_
#define PARITY_BASE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace parity {

// Cores this process may use, at least 1.
[[nodiscard]] int CoreCount();

// Calls work(i) once for every i in [0, count), in any order, on up to
// `threads` threads of which the caller's is one (0: one per core); returns
// when all are done. Where the system refuses a thread, fewer do the work.
// `work` must not throw.
void ParallelFor(std::int64_t count, int threads,
                 const std::function<void(std::int64_t)>& work);

}  // namespace parity

#endif  // PARITY_BASE_PARALLEL_H_
