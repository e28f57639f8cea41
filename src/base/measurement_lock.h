// One measurement at a time.
#ifndef PARITY_BASE_MEASUREMENT_LOCK_H_
#define PARITY_BASE_MEASUREMENT_LOCK_H_

#include <atomic>
#include <functional>
#include <utility>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity {

// Held while something is measured: processes of one user on one machine that
// hold one wait for each other. Ends with the object or its process. Where the
// system's folder for temporary files cannot be written, nobody waits for
// anybody.
class MeasurementLock {
 public:
  // Waits. `waiting` is called once before, when there is something to wait
  // for. Errors: kInterrupted, when `interrupted` (may be null) is set.
  [[nodiscard]] static Result<MeasurementLock> Take(
      const std::atomic<bool>* interrupted,
      const std::function<void()>& waiting);

 private:
  explicit MeasurementLock(UniqueFd descriptor)
      : descriptor_(std::move(descriptor)) {}
  UniqueFd descriptor_;
};

}  // namespace parity

#endif  // PARITY_BASE_MEASUREMENT_LOCK_H_
