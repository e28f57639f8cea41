// Selections element by element: comparisons, rounding, casts.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "diagnose/selection_kinds.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Number>
bool Compare(std::string_view op, Number a, Number b) {
  if (op == "Greater") return a > b;
  if (op == "Less") return a < b;
  if (op == "GreaterOrEqual") return a >= b;
  if (op == "LessOrEqual") return a <= b;
  return a == b;
}

// Of an operand's element for each element of the output, in order.
class BroadcastIndex {
 public:
  // `shape` must broadcast to `output`; see Fits().
  BroadcastIndex(const Shape& shape, const Shape& output)
      : position_(output.size(), 0), output_(output), strides_(output.size()) {
    std::size_t stride = 1;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const std::int64_t size = shape[shape.size() - back];
      if (size != 1) strides_[output.size() - back] = stride;
      stride *= static_cast<std::size_t>(size);
    }
  }

  static bool Fits(const Shape& shape, const Shape& output) {
    if (shape.size() > output.size()) return false;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const std::int64_t size = shape[shape.size() - back];
      if (size != 1 && size != output[output.size() - back]) return false;
    }
    return true;
  }

  std::size_t Next() {
    const std::size_t current = index_;
    for (std::size_t axis = output_.size(); axis-- > 0;) {
      index_ += strides_[axis];
      if (++position_[axis] < output_[axis]) break;
      index_ -= strides_[axis] * static_cast<std::size_t>(output_[axis]);
      position_[axis] = 0;
    }
    return current;
  }

 private:
  Shape position_;
  Shape output_;
  std::vector<std::size_t> strides_;
  std::size_t index_ = 0;
};

template <class Number>
Flips CompareAll(std::string_view op, const std::vector<Number>& a,
                 BroadcastIndex next_a, const std::vector<Number>& b,
                 BroadcastIndex next_b,
                 const std::vector<std::int64_t>& chosen) {
  Flips flips;
  for (const std::int64_t choice : chosen) {
    const Number left = a[next_a.Next()];
    const Number right = b[next_b.Next()];
    if (Compare(op, left, right) == (choice != 0)) continue;
    // Equal infinities have no difference.
    flips.Add(left == right ? 0
                            : std::abs(static_cast<double>(left) -
                                       static_cast<double>(right)));
  }
  return flips;
}

// How far `score` is from [low, high].
double Distance(double score, double low, double high) {
  return std::max({low - score, score - high, 0.0});
}

double Expected(std::string_view op, double score) {
  if (op == "Floor") return std::floor(score);
  if (op == "Ceil") return std::ceil(score);
  if (op == "Truncate") return std::trunc(score);
  if (op == "NotZero") return score != 0 ? 1 : 0;
  if (op == "Sign") {
    return std::isnan(score) ? score
                             : static_cast<double>((score > 0) - (score < 0));
  }
  // Round: halves to the even number, whatever the processor's mode.
  const double below = std::floor(score);
  const double part = score - below;
  if (part != 0.5) return part < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

// The distance of `score` to the nearest for which `op` gives `choice` (or
// comes as close to it as it likes: steps are open on one side).
double DistanceToStep(std::string_view op, double score, double choice) {
  if (std::isnan(score) || std::isnan(choice)) return kInfinity;
  if (op == "NotZero") return choice == 0 ? std::abs(score) : 0;
  if (op == "Sign") {
    if (choice == 0) return std::abs(score);
    if (std::abs(choice) != 1) return kInfinity;
    return std::max(-choice * score, 0.0);
  }
  if (std::floor(choice) != choice) return kInfinity;
  if (op == "Floor") return Distance(score, choice, choice + 1);
  if (op == "Ceil") return Distance(score, choice - 1, choice);
  if (op == "Round") return Distance(score, choice - 0.5, choice + 0.5);
  return Distance(score, choice > 0 ? choice : choice - 1,
                  choice < 0 ? choice : choice + 1);
}

}  // namespace

Flips CheckComparison(std::string_view op, const Tensor& a, const Tensor& b,
                      const Tensor& chosen) {
  if (chosen.dtype() != DType::kBool ||
      (a.dtype() != b.dtype() &&
       !(IsFloating(a.dtype()) && IsFloating(b.dtype()))) ||
      !BroadcastIndex::Fits(a.shape(), chosen.shape()) ||
      !BroadcastIndex::Fits(b.shape(), chosen.shape()))
    return AllWrong(chosen.element_count());
  const BroadcastIndex next_a(a.shape(), chosen.shape());
  const BroadcastIndex next_b(b.shape(), chosen.shape());
  const std::vector<std::int64_t> choices = ElementsAsIntegers(chosen);
  if (IsFloating(a.dtype()))
    return CompareAll(op, ElementsAsDoubles(a), next_a, ElementsAsDoubles(b),
                      next_b, choices);
  return CompareAll(op, ElementsAsIntegers(a), next_a, ElementsAsIntegers(b),
                    next_b, choices);
}

Flips CheckSteps(std::string_view op, const Tensor& scores,
                 const Tensor& chosen) {
  if (scores.shape() != chosen.shape()) return AllWrong(chosen.element_count());
  const std::vector<double> values = ElementsAsDoubles(scores);
  const std::vector<double> choices = ElementsAsDoubles(chosen);
  if (values.size() != choices.size()) return AllWrong(chosen.element_count());
  Flips flips;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = Expected(op, values[i]);
    if (expected == choices[i] ||
        (std::isnan(expected) && std::isnan(choices[i])))
      continue;
    flips.Add(DistanceToStep(op, values[i], choices[i]));
  }
  return flips;
}

Flips CheckIntegerCast(bool to_bool, const Tensor& scores,
                       const Tensor& chosen) {
  if (scores.shape() != chosen.shape()) return AllWrong(chosen.element_count());
  const std::vector<std::int64_t> values = ElementsAsIntegers(scores);
  const std::vector<std::int64_t> choices = ElementsAsIntegers(chosen);
  if (values.size() != choices.size()) return AllWrong(chosen.element_count());
  Flips flips;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t expected =
        to_bool ? std::int64_t{values[i] != 0} : values[i];
    if (expected != choices[i]) flips.Add(kInfinity);
  }
  return flips;
}

}  // namespace parity
