// The finite half of IsClose() (parity/tolerance.h), for pairs whose difference
// is not simply actual - expected in double.
#ifndef PARITY_COMPARE_IS_CLOSE_H_
#define PARITY_COMPARE_IS_CLOSE_H_

#include "parity/tolerance.h"

namespace parity {

// Whether `difference` = actual - expected is close enough, for finite
// `expected`: it is zero, or |difference| < atol + rtol·|expected|.
[[nodiscard]] bool IsCloseDifference(double expected, double difference,
                                     const Tolerance& tolerance);

}  // namespace parity

#endif  // PARITY_COMPARE_IS_CLOSE_H_
