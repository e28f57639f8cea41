// Compares two tensors element by element.
#ifndef PARITY_COMPARE_H_
#define PARITY_COMPARE_H_

#include <cstdint>

#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {

// Counts of values that are not finite, on one side.
struct NonFiniteCounts {
  std::int64_t nan = 0;
  std::int64_t positive_infinity = 0;
  std::int64_t negative_infinity = 0;

  [[nodiscard]] std::int64_t total() const {
    return nan + positive_infinity + negative_infinity;
  }
};

// The measured result for one pair of tensors. Differences are actual -
// expected, in double (infinite where double cannot hold them, as between
// float64 values of 1e308 and -1e308). Elements where either side is not finite
// take no part in max_…, mean_…, …_rms and rms_…; they are counted.
struct Comparison {
  std::int64_t element_count = 0;
  std::int64_t mismatch_count = 0;  // elements for which IsClose() is false
  std::int64_t compared_count = 0;  // elements where both sides are finite
  double max_abs_error = 0;
  std::int64_t max_abs_index =
      -1;  // flat row-major index of the first largest |difference|; -1 when
           // nothing was compared
  double expected_at_max = 0;
  double actual_at_max = 0;
  double max_rel_error = 0;  // max |difference| / |expected| over expected ≠ 0
  double mean_error = 0;     // signed mean of the differences
  double mean_abs_error = 0;
  double rms_error = 0;  // root mean square of the differences
  double expected_rms =
      0;  // root mean square of the expected values, the scale of rms_error
  double max_abs_expected = 0;
  NonFiniteCounts expected_nonfinite = {};
  NonFiniteCounts actual_nonfinite = {};
  std::int64_t nonfinite_disagreements =
      0;  // elements where one side is not finite and the other is anything
          // else
  std::int64_t first_nonfinite_disagreement = -1;
  std::int64_t first_mismatch = -1;

  // Something was compared and nothing mismatched.
  [[nodiscard]] bool matches() const {
    return element_count > 0 && mismatch_count == 0;
  }
};

struct CompareOptions {
  int threads = 0;  // 0: one per core for large tensors, else just one
};

// Shapes must be equal (no broadcasting). Dtypes must be equal, or both
// floating: all are widened exactly to double (of int64 and uint64 the
// difference is taken in integers and rounded once, so that no difference is
// lost; any nonzero bool is true). Cost: one pass over both tensors, and 3
// bytes of bookkeeping per 1000 elements. The result is the same bits for any
// number of threads, and on any CPU. Thread-safe. Errors: kIncompatible if
// shapes or dtype classes differ; kUnsupported for complex dtypes; kCorrupt if
// a view's bytes do not fit its shape. A mismatch is a result, not an error.
[[nodiscard]] Result<Comparison> Compare(const TensorView& expected,
                                         const TensorView& actual,
                                         const Tolerance& tolerance,
                                         const CompareOptions& options = {});

}  // namespace parity

#endif  // PARITY_COMPARE_H_
