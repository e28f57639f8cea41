// A few numbers that stand for a whole tensor, so that values of two
// computations can be matched without keeping either.
#ifndef PARITY_TENSOR_VALUE_SKETCH_H_
#define PARITY_TENSOR_VALUE_SKETCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "parity/tensor.h"

namespace parity {

// Random projections of the elements in row-major order (signs ±1 that depend
// on the flat index alone, so the shape does not matter, only the order), and
// sums that do not depend on the order. Not finite elements count as 0.
// Source: "tug-of-war" sketch of Alon, Matias and Szegedy (1999): the mean
// square of a projection of x − y is |x − y|².
struct ValueSketch {
  static constexpr std::size_t kProjections = 8;
  // element_count, nonfinite_count, norm, sum, cubes, projections
  static constexpr std::size_t kNumbers = 5 + kProjections;

  std::int64_t element_count = 0;
  std::int64_t nonfinite_count = 0;
  double norm = 0;   // Euclidean
  double sum = 0;    // order-free
  double cubes = 0;  // order-free: the sum of cubes
  std::array<double, kProjections> projections{};

  [[nodiscard]] std::array<double, kNumbers> ToNumbers() const;
  [[nodiscard]] static ValueSketch FromNumbers(
      std::span<const double, kNumbers> numbers);
};

// One pass. Complex tensors give a sketch without elements.
[[nodiscard]] ValueSketch SketchOf(const TensorView& tensor);

// An estimate of |x − y| / max(|x|, |y|), good to a factor of two or so; 0 for
// equal sketches. Infinite when the numbers of elements, or of those that are
// not finite, differ.
[[nodiscard]] double RelativeDistance(const ValueSketch& x,
                                      const ValueSketch& y);

// The same for the multisets of elements: small also when y is x transposed or
// otherwise reordered. Weaker: a lower bound that can be small by chance.
[[nodiscard]] double UnorderedDistance(const ValueSketch& x,
                                       const ValueSketch& y);

}  // namespace parity

#endif  // PARITY_TENSOR_VALUE_SKETCH_H_
