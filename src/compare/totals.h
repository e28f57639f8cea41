// Running totals of a comparison: what Comparison's statistics are made of.
#ifndef PARITY_COMPARE_TOTALS_H_
#define PARITY_COMPARE_TOTALS_H_

#include <cstdint>
#include <span>

#include "kernels/compare_kernels.h"
#include "parity/compare.h"
#include "parity/tolerance.h"

namespace parity {

// Where something was first seen is kept as the first element of its span: the
// element itself is looked up once, at the end.
struct Totals {
  std::int64_t element_count = 0;
  PairSums pairs = {};  // mismatch_count: of all pairs, finite or not
  NonFiniteCounts expected_nonfinite = {};
  NonFiniteCounts actual_nonfinite = {};
  std::int64_t nonfinite_disagreements = 0;
  std::int64_t max_abs_span = -1;
  std::int64_t mismatch_span = -1;
  std::int64_t disagreement_span = -1;

  [[nodiscard]] std::int64_t compared_count() const {
    return element_count - pairs.nonfinite_count;
  }
};

// Totals of the span that starts at element `begin` and has `count` elements;
// `pairs` are its sums. Its non-finite pairs are still to be counted.
[[nodiscard]] Totals SpanTotals(std::int64_t begin, std::int64_t count,
                                const PairSums& pairs);

// Looks at the pairs of one span of which either side is not finite.
void CountNonFinite(std::span<const float> expected,
                    std::span<const float> actual, std::int64_t begin,
                    const Tolerance& tolerance, Totals& totals);
void CountNonFinite(std::span<const double> expected,
                    std::span<const double> actual, std::int64_t begin,
                    const Tolerance& tolerance, Totals& totals);

// Adds the totals of the elements that follow those of `totals`.
void Append(const Totals& next, Totals& totals);

// The same, as far as totals tell: all but the places and the values there.
[[nodiscard]] Comparison Statistics(const Totals& totals);

// Both are NaN, or both are the same infinity.
[[nodiscard]] bool SameNonFinite(double expected, double actual);

}  // namespace parity

#endif  // PARITY_COMPARE_TOTALS_H_
