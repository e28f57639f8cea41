// The kinds of selections (selection.h), each checked its own way.
#ifndef PARITY_DIAGNOSE_SELECTION_KINDS_H_
#define PARITY_DIAGNOSE_SELECTION_KINDS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {

// What was found so far.
struct Flips {
  std::int64_t count = 0;
  double gap = 0;

  void Add(double step) {
    ++count;
    if (std::isnan(step)) step = std::numeric_limits<double>::infinity();
    gap = std::max(gap, step);
  }
};

// Nothing that rounding could explain: all of `count` elements are wrong.
[[nodiscard]] inline Flips AllWrong(std::int64_t count) {
  return {.count = std::max<std::int64_t>(count, 1),
          .gap = std::numeric_limits<double>::infinity()};
}

// The elements as doubles; complex ones as none.
[[nodiscard]] std::vector<double> ElementsAsDoubles(const Tensor& tensor);
// Integers and booleans in an order-preserving form (the upper half of uint64
// does not fit).
[[nodiscard]] std::vector<std::int64_t> ElementsAsIntegers(
    const Tensor& tensor);

// An integer attribute, or `otherwise`.
[[nodiscard]] std::int64_t IntegerAttributeOr(const Node& node,
                                              std::string_view name,
                                              std::int64_t otherwise);

// Greater, Less, GreaterOrEqual, LessOrEqual, Equal; broadcasting.
[[nodiscard]] Flips CheckComparison(std::string_view op, const Tensor& a,
                                    const Tensor& b, const Tensor& chosen);
// Round, Floor, Ceil, Sign, and Cast of floating values: what their steps are
// is `op`'s, "Truncate" or "NotZero" for casts.
[[nodiscard]] Flips CheckSteps(std::string_view op, const Tensor& scores,
                               const Tensor& chosen);
// Casts of integers.
[[nodiscard]] Flips CheckIntegerCast(bool to_bool, const Tensor& scores,
                                     const Tensor& chosen);

// `chosen` are indices along `axis` (any number of them: TopK), the best first
// when `sorted`.
[[nodiscard]] Flips CheckTopK(const Tensor& scores, const Tensor& chosen,
                              std::int64_t axis, bool largest, bool sorted);
// `chosen` are indices, with the axis kept (of size 1) or gone.
[[nodiscard]] Flips CheckArgMax(const Tensor& scores, const Tensor& chosen,
                                std::int64_t axis, bool largest, bool last);
// `chosen` is 1 at the best element along `axis`, else 0.
[[nodiscard]] Flips CheckHardmax(const Tensor& scores, const Tensor& chosen,
                                 std::int64_t axis);

[[nodiscard]] Flips CheckNonZero(const Tensor& scores, const Tensor& chosen);
[[nodiscard]] Flips CheckNonMaxSuppression(const Node& node,
                                           const std::vector<Tensor>& inputs,
                                           const Tensor& chosen);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_SELECTION_KINDS_H_
