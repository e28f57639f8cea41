#include "diagnose/reference_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// Equality of two sums of rounded numbers.
constexpr double kRounding = 1e-9;

// Whether two values have the same elements, as far as sums can tell that do
// not depend on the order; of as many elements, but for zeros.
bool HaveSameSums(const ValueSketch& x, const ValueSketch& y,
                  double tolerance) {
  if (x.nonfinite_count != y.nonfinite_count) return false;
  const double norm = std::max(x.norm, y.norm);
  // Small differences of one sign (a bias that was rounded) add up, and sums
  // are of √n times the norm's size. Errors of any sign show in them best,
  // though.
  constexpr double kLoosest = 100;
  const double root = std::sqrt(static_cast<double>(x.element_count));
  const double sums = tolerance * std::clamp(root, 1.0, kLoosest);
  return std::abs(x.norm - y.norm) <= tolerance * norm &&
         std::abs(x.sum - y.sum) <= sums * norm &&
         std::abs(x.cubes - y.cubes) <= tolerance * norm * norm * norm;
}

}  // namespace

bool IsWeak(const ValueSketch& sketch) {
  if (sketch.element_count <= 1 || sketch.norm == 0) return true;
  // Cauchy and Schwarz: |sum| reaches √count × norm only when all are equal.
  const double bound =
      std::sqrt(static_cast<double>(sketch.element_count)) * sketch.norm;
  return std::abs(sketch.sum) >= bound * (1 - kRounding);
}

bool IsTwoValued(const ValueSketch& sketch) {
  // For k elements of c: sum kc, sum of squares kc², of cubes kc³.
  const double squares = sketch.norm * sketch.norm;
  return std::abs(sketch.sum * sketch.cubes - squares * squares) <=
         kRounding * squares * squares;
}

ReferenceValues::ReferenceValues(std::span<const TracedValue> inputs,
                                 std::span<const TracedValue> trace)
    : input_count_(inputs.size()) {
  values_.reserve(inputs.size() + trace.size());
  for (const TracedValue& value : inputs) values_.push_back(&value);
  for (const TracedValue& value : trace) values_.push_back(&value);
  for (std::size_t place = 0; place < values_.size(); ++place)
    by_count_[values_[place]->sketch.element_count].push_back(place);
  by_norm_.resize(values_.size());
  std::iota(by_norm_.begin(), by_norm_.end(), std::size_t{0});
  const auto norm_of = [this](std::size_t place) {
    return values_[place]->sketch.norm;
  };
  std::ranges::stable_sort(by_norm_, {}, norm_of);
  for (auto& [count, places] : by_count_)
    std::ranges::stable_sort(places, {}, norm_of);
}

std::span<const std::size_t> ReferenceValues::OfCount(
    const ValueSketch& sketch) const {
  const auto found = by_count_.find(sketch.element_count);
  if (found == by_count_.end()) return {};
  return found->second;
}

std::span<const std::size_t> ReferenceValues::Near(
    std::span<const std::size_t> places, const ValueSketch& sketch,
    double width) const {
  const auto norm_of = [this](std::size_t place) {
    return values_[place]->sketch.norm;
  };
  const auto begin =
      std::ranges::lower_bound(places, sketch.norm - width, {}, norm_of);
  const auto end =
      std::ranges::upper_bound(places, sketch.norm + width, {}, norm_of);
  return {begin, end};
}

std::vector<std::size_t> ReferenceValues::Equal(const ValueSketch& sketch,
                                                double tolerance) const {
  std::vector<std::size_t> places;
  // Norms differ by no more than the values do. The estimate of their distance
  // may be too small by a factor.
  constexpr double kEstimate = 4;
  for (const std::size_t place :
       Near(OfCount(sketch), sketch, kEstimate * tolerance * sketch.norm)) {
    const ValueSketch& other = values_[place]->sketch;
    if ((other.norm == 0) == (sketch.norm == 0) &&
        RelativeDistance(other, sketch) <= tolerance)
      places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

std::vector<std::size_t> ReferenceValues::Permuted(const ValueSketch& sketch,
                                                   double tolerance) const {
  std::vector<std::size_t> places;
  if (IsWeak(sketch)) return places;
  for (const std::size_t place :
       Near(OfCount(sketch), sketch, 2 * tolerance * sketch.norm)) {
    if (HaveSameSums(values_[place]->sketch, sketch, tolerance))
      places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

std::vector<std::size_t> ReferenceValues::WithoutZeros(
    const ValueSketch& sketch, double tolerance) const {
  std::vector<std::size_t> places;
  if (IsWeak(sketch)) return places;
  for (const std::size_t place :
       Near(by_norm_, sketch, 2 * tolerance * sketch.norm)) {
    const ValueSketch& other = values_[place]->sketch;
    // With more zeros than numbers it is another thing: a scattered value.
    const bool is_filled_up = other.element_count < sketch.element_count &&
                              other.element_count > sketch.element_count / 2;
    if (is_filled_up && !IsWeak(other) &&
        HaveSameSums(other, sketch, tolerance))
      places.push_back(place);
  }
  std::ranges::sort(places);
  return places;
}

double ReferenceValues::NearestDistance(const ValueSketch& sketch) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const std::size_t place : OfCount(sketch)) {
    nearest =
        std::min(nearest, RelativeDistance(values_[place]->sketch, sketch));
  }
  return nearest;
}

}  // namespace parity
