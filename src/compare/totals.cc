#include "compare/totals.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/compare_kernels.h"
#include "parity/compare.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

void Count(double value, NonFiniteCounts& counts) {
  if (std::isnan(value)) {
    ++counts.nan;
  } else if (value == std::numeric_limits<double>::infinity()) {
    ++counts.positive_infinity;
  } else if (value == -std::numeric_limits<double>::infinity()) {
    ++counts.negative_infinity;
  }
}

void Append(const NonFiniteCounts& next, NonFiniteCounts& counts) {
  counts.nan += next.nan;
  counts.positive_infinity += next.positive_infinity;
  counts.negative_infinity += next.negative_infinity;
}

void Append(const PairSums& next, PairSums& sums) {
  sums.nonfinite_count += next.nonfinite_count;
  sums.mismatch_count += next.mismatch_count;
  sums.max_abs_error = std::max(sums.max_abs_error, next.max_abs_error);
  sums.max_rel_error = std::max(sums.max_rel_error, next.max_rel_error);
  sums.max_abs_expected =
      std::max(sums.max_abs_expected, next.max_abs_expected);
  sums.sum_error += next.sum_error;
  sums.sum_abs_error += next.sum_abs_error;
  sums.sum_squared_error += next.sum_squared_error;
  sums.sum_squared_expected += next.sum_squared_expected;
}

template <class T>
void CountNonFiniteOf(std::span<const T> expected, std::span<const T> actual,
                      std::int64_t begin, const Tolerance& tolerance,
                      Totals& totals) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i];
    const double a = actual[i];
    if (std::isfinite(e) && std::isfinite(a)) continue;
    Count(e, totals.expected_nonfinite);
    Count(a, totals.actual_nonfinite);
    if (!SameNonFinite(e, a)) {
      ++totals.nonfinite_disagreements;
      totals.disagreement_span = begin;
    }
    if (!IsClose(e, a, tolerance)) {
      ++totals.pairs.mismatch_count;
      totals.mismatch_span = begin;
    }
  }
}

}  // namespace

bool SameNonFinite(double expected, double actual) {
  if (std::isnan(expected)) return std::isnan(actual);
  return std::isinf(expected) && expected == actual;
}

Totals SpanTotals(std::int64_t begin, std::int64_t count,
                  const PairSums& pairs) {
  Totals totals{.element_count = count, .pairs = pairs};
  if (totals.compared_count() > 0) totals.max_abs_span = begin;
  if (pairs.mismatch_count > 0) totals.mismatch_span = begin;
  return totals;
}

void CountNonFinite(std::span<const float> expected,
                    std::span<const float> actual, std::int64_t begin,
                    const Tolerance& tolerance, Totals& totals) {
  CountNonFiniteOf(expected, actual, begin, tolerance, totals);
}

void CountNonFinite(std::span<const double> expected,
                    std::span<const double> actual, std::int64_t begin,
                    const Tolerance& tolerance, Totals& totals) {
  CountNonFiniteOf(expected, actual, begin, tolerance, totals);
}

void Append(const Totals& next, Totals& totals) {
  const bool larger = next.max_abs_span >= 0 &&
                      (totals.max_abs_span < 0 ||
                       next.pairs.max_abs_error > totals.pairs.max_abs_error);
  if (larger) totals.max_abs_span = next.max_abs_span;
  if (totals.mismatch_span < 0) totals.mismatch_span = next.mismatch_span;
  if (totals.disagreement_span < 0)
    totals.disagreement_span = next.disagreement_span;
  totals.element_count += next.element_count;
  totals.nonfinite_disagreements += next.nonfinite_disagreements;
  Append(next.pairs, totals.pairs);
  Append(next.expected_nonfinite, totals.expected_nonfinite);
  Append(next.actual_nonfinite, totals.actual_nonfinite);
}

Comparison Statistics(const Totals& totals) {
  const PairSums& pairs = totals.pairs;
  Comparison result{.element_count = totals.element_count,
                    .mismatch_count = pairs.mismatch_count,
                    .compared_count = totals.compared_count(),
                    .max_abs_error = pairs.max_abs_error,
                    .max_rel_error = pairs.max_rel_error,
                    .max_abs_expected = pairs.max_abs_expected,
                    .expected_nonfinite = totals.expected_nonfinite,
                    .actual_nonfinite = totals.actual_nonfinite,
                    .nonfinite_disagreements = totals.nonfinite_disagreements};
  if (result.compared_count > 0) {
    const auto count = static_cast<double>(result.compared_count);
    result.mean_error = pairs.sum_error / count;
    result.mean_abs_error = pairs.sum_abs_error / count;
    result.rms_error = std::sqrt(pairs.sum_squared_error / count);
    result.expected_rms = std::sqrt(pairs.sum_squared_expected / count);
  }
  return result;
}

}  // namespace parity
