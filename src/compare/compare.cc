// The tensors are cut into fixed blocks of spans. Threads take blocks; each
// block is summed span by span, and the blocks' totals are added in order, so
// the result does not depend on who did what. Where the first mismatch, the
// largest difference and the first non-finite disagreement are is only known to
// the span; those three spans are looked at once more at the end.
#include "parity/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "base/status_macros.h"
#include "compare/is_close.h"
#include "compare/pair_reader.h"
#include "compare/totals.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

constexpr std::int64_t kBlock = 32 * kSpan;
// Below this many elements a thread costs more to start than it saves.
constexpr std::int64_t kThreadedElements = std::int64_t{1} << 20;

bool IsFinitePair(const ElementPair& pair) {
  return std::isfinite(pair.expected) && std::isfinite(pair.actual);
}

bool IsClosePair(const ElementPair& pair, const Tolerance& tolerance) {
  return IsFinitePair(pair)
             ? IsCloseDifference(pair.expected, pair.difference, tolerance)
             : IsClose(pair.expected, pair.actual, tolerance);
}

Totals SumBlock(const PairReader& reader, std::int64_t begin,
                const Tolerance& tolerance, double known_rel) {
  const std::int64_t end = std::min(begin + kBlock, reader.element_count());
  Totals totals;
  for (std::int64_t at = begin; at < end; at += kSpan) {
    known_rel = std::max(known_rel, totals.pairs.max_rel_error);
    Append(reader.Sum(at, std::min(kSpan, end - at), tolerance, known_rel),
           totals);
  }
  return totals;
}

void RaiseTo(double value, std::atomic<double>& maximum) {
  double seen = maximum.load(std::memory_order_relaxed);
  while (value > seen && !maximum.compare_exchange_weak(
                             seen, value, std::memory_order_relaxed)) {
  }
}

Totals SumAll(const PairReader& reader, const Tolerance& tolerance,
              int threads) {
  const std::int64_t blocks = (reader.element_count() + kBlock - 1) / kBlock;
  std::vector<Totals> partial(static_cast<std::size_t>(blocks));
  // Which blocks find it raised depends on timing; the maximum over all blocks
  // does not.
  std::atomic<double> known_rel{0};
  ParallelFor(blocks, threads, [&](std::int64_t block) {
    const Totals totals = SumBlock(reader, block * kBlock, tolerance,
                                   known_rel.load(std::memory_order_relaxed));
    RaiseTo(totals.pairs.max_rel_error, known_rel);
    partial[static_cast<std::size_t>(block)] = totals;
  });
  Totals totals;
  for (const Totals& next : partial) Append(next, totals);
  return totals;
}

// The first element from `begin` on that fits; -1 when `begin` is.
template <class Predicate>
std::int64_t FindFrom(const PairReader& reader, std::int64_t begin,
                      const Predicate& fits) {
  if (begin < 0) return -1;
  for (std::int64_t i = begin; i < reader.element_count(); ++i) {
    if (fits(reader.At(i))) return i;
  }
  return -1;
}

}  // namespace

Result<Comparison> Compare(const TensorView& expected, const TensorView& actual,
                           const Tolerance& tolerance,
                           const CompareOptions& options) {
  PARITY_ASSIGN_OR_RETURN(const PairReader reader,
                          PairReader::Create(expected, actual));
  const bool small = reader.element_count() < kThreadedElements;
  const int threads =
      options.threads > 0 ? options.threads : (small ? 1 : CoreCount());
  const Totals totals = SumAll(reader, tolerance, threads);

  Comparison result = Statistics(totals);
  result.first_mismatch = FindFrom(
      reader, totals.mismatch_span,
      [&](const ElementPair& pair) { return !IsClosePair(pair, tolerance); });
  result.first_nonfinite_disagreement =
      FindFrom(reader, totals.disagreement_span, [](const ElementPair& pair) {
        return !IsFinitePair(pair) &&
               !SameNonFinite(pair.expected, pair.actual);
      });
  result.max_abs_index =
      FindFrom(reader, totals.max_abs_span, [&](const ElementPair& pair) {
        return IsFinitePair(pair) &&
               std::abs(pair.difference) == result.max_abs_error;
      });
  if (result.max_abs_index >= 0) {
    const ElementPair worst = reader.At(result.max_abs_index);
    result.expected_at_max = worst.expected;
    result.actual_at_max = worst.actual;
  }
  return result;
}

}  // namespace parity
