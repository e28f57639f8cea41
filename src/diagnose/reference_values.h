// The values of a reference's trace, to be found by their numbers.
#ifndef PARITY_DIAGNOSE_REFERENCE_VALUES_H_
#define PARITY_DIAGNOSE_REFERENCE_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/backend.h"
#include "tensor/value_sketch.h"

namespace parity {

// Too little to tell it from another value: at most one element, nothing but
// zeros (or numbers that are not finite), or all elements equal.
[[nodiscard]] bool IsWeak(const ValueSketch& sketch);

// Every element is 0 or one other number: masks. Reordering such a value gives
// what any other with as many elements of each could be.
[[nodiscard]] bool IsTwoValued(const ValueSketch& sketch);

// The inputs and the trace must outlive it.
class ReferenceValues {
 public:
  ReferenceValues(std::span<const TracedValue> inputs,
                  std::span<const TracedValue> trace);

  // Inputs first, then the trace: the place of a value in time.
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] std::size_t input_count() const { return input_count_; }
  [[nodiscard]] const TracedValue& operator[](std::size_t place) const {
    return *values_[place];
  }

  // Places, in order, of values with the same elements in the same order,
  // within `tolerance` of their norm. An all-zero value is like no other.
  [[nodiscard]] std::vector<std::size_t> Equal(const ValueSketch& sketch,
                                               double tolerance) const;
  // Places of those with the same elements in any order. None for weak values.
  [[nodiscard]] std::vector<std::size_t> Permuted(const ValueSketch& sketch,
                                                  double tolerance) const;
  // Places of those with fewer elements that are the same but for additional
  // zeros, wherever they are. None for weak values.
  [[nodiscard]] std::vector<std::size_t> WithoutZeros(const ValueSketch& sketch,
                                                      double tolerance) const;
  // The smallest RelativeDistance() to a value of as many elements; infinite
  // when there is none.
  [[nodiscard]] double NearestDistance(const ValueSketch& sketch) const;

 private:
  std::vector<const TracedValue*> values_;
  std::size_t input_count_;
  // Places by number of elements, in the order of their norms.
  std::unordered_map<std::int64_t, std::vector<std::size_t>> by_count_;
  std::vector<std::size_t> by_norm_;

  // Those whose norm is within `width` of that of `sketch`.
  [[nodiscard]] std::span<const std::size_t> Near(
      std::span<const std::size_t> places, const ValueSketch& sketch,
      double width) const;
  [[nodiscard]] std::span<const std::size_t> OfCount(
      const ValueSketch& sketch) const;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_REFERENCE_VALUES_H_
