// Operators that decide: a small difference of their inputs can change their
// output altogether. Two correct computations may decide differently where
// scores are equal but for rounding: a tie.
#ifndef PARITY_DIAGNOSE_SELECTION_H_
#define PARITY_DIAGNOSE_SELECTION_H_

#include <cstdint>
#include <vector>

#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {

// TopK, ArgMax, ArgMin, Hardmax, Greater, Less, GreaterOrEqual, LessOrEqual,
// Equal, Round, Floor, Ceil, Sign, Cast to integers or bool, and NonZero and
// NonMaxSuppression, whose decisions only become indices. Hardmax is meant as
// from operator set 13 on, along one axis.
[[nodiscard]] bool IsSelection(const Node& node);

struct SelectionCheck {
  // Elements of the output that are not what the scores give. TopK: indices
  // that should not be there, or not at that place when sorted. Where scores
  // are equal, the first element is expected, as the specification says.
  std::int64_t flipped = 0;
  // The largest step that a flip had to bridge, in units of the scores: TopK
  // |score − k-th best score|, ArgMax |score − best score|, comparisons |a −
  // b|, rounding and casts the distance to the nearest score that gives the
  // chosen value. Infinite for what no rounding explains: not a number, indices
  // out of range or twice, shapes that do not fit, NonZero and
  // NonMaxSuppression.
  double gap = 0;
  // Flipped, by no more than the noise of floating scores.
  bool is_tie = false;
};

// `inputs` are the node's, in order (omitted ones default-made), as computed in
// float64 from the very selections that the side under test made before;
// `chosen` are the node's outputs on that side. Integer and boolean scores are
// exact and never tie. `score_noise` is how far two scores that should be equal
// may be apart. Requires IsSelection(node).
[[nodiscard]] SelectionCheck CheckSelection(const Node& node,
                                            const std::vector<Tensor>& inputs,
                                            const std::vector<Tensor>& chosen,
                                            double score_noise);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_SELECTION_H_
