// What the vector loop leaves behind: one running value per lane.
#ifndef PARITY_KERNELS_LANE_SUMS_H_
#define PARITY_KERNELS_LANE_SUMS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "kernels/compare_kernels.h"

namespace parity {

inline constexpr std::size_t kLanes = 8;

// The fields of PairSums, for the elements i of a span with i mod 8 = lane.
// Counts are kept in double, where they are exact.
struct LaneSums {
  using Lanes = std::array<double, kLanes>;
  Lanes nonfinite;
  Lanes mismatch;
  Lanes max_abs_error;
  Lanes max_rel_error;
  Lanes max_abs_expected;
  Lanes error;
  Lanes abs_error;
  Lanes squared_error;
  Lanes squared_expected;
};

[[nodiscard]] inline double Sum(const LaneSums::Lanes& l) {
  return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}

// Whether sums that were taken of floats without looking show that all were
// finite and close. Any NaN or infinity spoils the sum of |d|, which finite
// floats cannot make overflow. The bound of a pair is never below atol, for
// rtol >= 0.
[[nodiscard]] inline bool AllFiniteAndClose(const LaneSums& lanes,
                                            PairBound bound) {
  const double largest = std::ranges::max(lanes.max_abs_error);
  return Sum(lanes.abs_error) < std::numeric_limits<double>::infinity() &&
         (largest == 0 || (largest < bound.atol && bound.rtol >= 0));
}

}  // namespace parity

#endif  // PARITY_KERNELS_LANE_SUMS_H_
