// Reads pairs of elements of two tensors, whatever their dtypes, a span at a
// time, and gives what a span adds to the comparison.
#ifndef PARITY_COMPARE_PAIR_READER_H_
#define PARITY_COMPARE_PAIR_READER_H_

#include <cstddef>
#include <cstdint>

#include "compare/totals.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {

// Elements of one span: small enough that both sides, widened, stay in a CPU's
// nearest cache.
inline constexpr std::int64_t kSpan = 2048;

// One pair, widened to double.
struct ElementPair {
  double expected;
  double actual;
  double difference;  // actual - expected, rounded once
};

class PairReader {
 public:
  // The views must stay valid. Errors: those of Compare().
  [[nodiscard]] static Result<PairReader> Create(const TensorView& expected,
                                                 const TensorView& actual);

  [[nodiscard]] std::int64_t element_count() const {
    return expected_.element_count();
  }

  // What elements [begin, begin + count) add; count ≤ kSpan. Their largest
  // relative error may be reported too low where it is not above `known_rel`,
  // one seen elsewhere. Thread-safe.
  [[nodiscard]] Totals Sum(std::int64_t begin, std::int64_t count,
                           const Tolerance& tolerance, double known_rel) const;

  // One pair. Slow: for looking at a few. Thread-safe.
  [[nodiscard]] ElementPair At(std::int64_t index) const;

 private:
  PairReader(const TensorView& expected, const TensorView& actual)
      : expected_(expected), actual_(actual) {}
  TensorView expected_;
  TensorView actual_;
};

}  // namespace parity

#endif  // PARITY_COMPARE_PAIR_READER_H_
