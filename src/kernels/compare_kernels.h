// The arithmetic of a comparison: sums, maxima and counts over short spans of
// element pairs, in the widest vectors the CPU has.
//
// The sums are the same bits on every CPU: element i of a span always goes to
// running sum i mod 8, whatever the vector width; the eight are added in one
// fixed order; and no multiplication is fused with an addition.
#ifndef PARITY_KERNELS_COMPARE_KERNELS_H_
#define PARITY_KERNELS_COMPARE_KERNELS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace parity {

// Over the pairs whose two sides are finite; d = actual - expected, in double.
// A difference beyond the range of double is infinite, and so are the sums and
// the maximum it goes into.
struct PairSums {
  std::int64_t nonfinite_count = 0;  // pairs that are left out of all else
  std::int64_t mismatch_count =
      0;                     // d ≠ 0 and not |d| < atol + rtol·|expected|
  double max_abs_error = 0;  // |d|
  double max_rel_error = 0;  // |d| / |expected| over expected ≠ 0
  double max_abs_expected = 0;
  double sum_error = 0;  // d
  double sum_abs_error = 0;
  double sum_squared_error = 0;
  double sum_squared_expected = 0;
};

// Bounds as in Tolerance.
struct PairBound {
  double atol = 0;
  double rtol = 0;
};

// Both spans have the same length, best 2048 or less: the sums round once per
// eighth element, and narrow vectors read the spans up to four times. No
// alignment beyond that of the type. Thread-safe.
//
// `known_rel`: a relative error the caller has seen elsewhere. The result's
// max_rel_error may be too low where the true one is not above it. (It saves
// the divisions; all spans together still give the exact maximum.)
[[nodiscard]] PairSums SumFloatPairs(std::span<const float> expected,
                                     std::span<const float> actual,
                                     PairBound bound, double known_rel = 0);
[[nodiscard]] PairSums SumDoublePairs(std::span<const double> expected,
                                      std::span<const double> actual,
                                      PairBound bound);
// For pairs whose difference double arithmetic could lose (64-bit integers):
// the caller computes it. All values must be finite.
[[nodiscard]] PairSums SumDifferences(std::span<const double> expected,
                                      std::span<const double> difference,
                                      PairBound bound);

// The instruction set these kernels use on this machine, as Highway names it:
// "AVX2", "AVX3_ZEN4", "NEON", …
[[nodiscard]] std::string_view CompareKernelTarget();

// For tests: the targets this CPU can run, and running on one of them (0: the
// best again).
[[nodiscard]] std::vector<std::int64_t> RunnableCompareTargets();
void ForceCompareTarget(std::int64_t target);

}  // namespace parity

#endif  // PARITY_KERNELS_COMPARE_KERNELS_H_
