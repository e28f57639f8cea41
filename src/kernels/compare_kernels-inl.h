// The loop over pairs, compiled once for each CPU target (Highway's
// foreach_target includes this file again and again, hence the toggling guard).
//
// Eight running sums are wanted whatever the vector width N: for N < 8 the
// loop passes over the span 8 / N times, each time over every eighth element
// from the pass's first lane on. A span is short, so later passes find it in
// the nearest cache.
#if defined(PARITY_KERNELS_COMPARE_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PARITY_KERNELS_COMPARE_KERNELS_INL_H_
#undef PARITY_KERNELS_COMPARE_KERNELS_INL_H_
#else
#define PARITY_KERNELS_COMPARE_KERNELS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/compare_kernels.h"
#include "kernels/lane_sums.h"

HWY_BEFORE_NAMESPACE();
namespace parity::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DoubleTag = hn::CappedTag<double, kLanes>;
using Doubles = hn::Vec<DoubleTag>;
using DoubleMask = hn::Mask<DoubleTag>;

HWY_INLINE DoubleMask IsFiniteLane(Doubles value) {
  const DoubleTag d;
  return hn::Lt(hn::Abs(value),
                hn::Set(d, std::numeric_limits<double>::infinity()));
}

// The three sources of pairs: what is stored, and how the difference and the
// mask of finite pairs come from it.
struct FloatPairs {
  using Value = float;
  static HWY_INLINE Doubles Load(const float* from) {
    const DoubleTag d;
    const hn::Rebind<float, DoubleTag> narrow;
    return hn::PromoteTo(d, hn::LoadU(narrow, from));
  }
  static HWY_INLINE Doubles Difference(Doubles expected, Doubles actual) {
    return hn::Sub(actual, expected);
  }
  // The difference of two finite floats is far inside the range of double.
  static HWY_INLINE DoubleMask Finite(Doubles, Doubles, Doubles difference) {
    return IsFiniteLane(difference);
  }
};

struct DoublePairs {
  using Value = double;
  static HWY_INLINE Doubles Load(const double* from) {
    return hn::LoadU(DoubleTag(), from);
  }
  static HWY_INLINE Doubles Difference(Doubles expected, Doubles actual) {
    return hn::Sub(actual, expected);
  }
  static HWY_INLINE DoubleMask Finite(Doubles expected, Doubles actual,
                                      Doubles) {
    return hn::And(IsFiniteLane(expected), IsFiniteLane(actual));
  }
};

struct GivenDifferences {
  using Value = double;
  static HWY_INLINE Doubles Load(const double* from) {
    return hn::LoadU(DoubleTag(), from);
  }
  static HWY_INLINE Doubles Difference(Doubles, Doubles difference) {
    return difference;
  }
  static HWY_INLINE DoubleMask Finite(Doubles, Doubles, Doubles difference) {
    return hn::Eq(difference, difference);
  }
};

// The two sides of a span as whole groups of eight, and the incomplete last
// group filled up with zeros, which change no sum, maximum or count.
template <class Value>
struct Groups {
  Groups(const Value* expected_from, const Value* second_from,
         std::size_t count)
      : expected(expected_from),
        second(second_from),
        whole(count / kLanes * kLanes) {
    std::copy(expected + whole, expected + count, expected_tail.begin());
    std::copy(second + whole, second + count, second_tail.begin());
  }

  const Value* expected;
  const Value* second;  // the actual side, or the differences
  std::size_t whole;    // elements in whole groups
  std::array<Value, kLanes> expected_tail{};
  std::array<Value, kLanes> second_tail{};
};

template <class Value>
HWY_INLINE void PrefetchNext(const Value* from, std::size_t distance) {
  // In integers: the address may lie behind the end of the array. It is a
  // hint, never read.
  const std::uintptr_t next =
      reinterpret_cast<std::uintptr_t>(from) + distance * sizeof(Value);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): not a pointer to anything
  hwy::Prefetch(reinterpret_cast<const char*>(next));
}

// Calls add(expected, second) with the lanes [first, first + N) of each group.
template <class Value, class Add>
HWY_INLINE void ForEachGroup(const Groups<Value>& groups, std::size_t first,
                             const Add& add) {
  const bool last_pass = first + hn::Lanes(DoubleTag()) == kLanes;
  if (last_pass) {
    for (std::size_t i = first; i < groups.whole; i += kLanes) {
      PrefetchNext(groups.expected + i, groups.whole);
      PrefetchNext(groups.second + i, groups.whole);
      add(groups.expected + i, groups.second + i);
    }
  } else {
    for (std::size_t i = first; i < groups.whole; i += kLanes)
      add(groups.expected + i, groups.second + i);
  }
  add(&groups.expected_tail[first], &groups.second_tail[first]);
}

HWY_INLINE Doubles RelativeError(Doubles abs_d, Doubles abs_e) {
  return hn::IfThenElseZero(hn::Gt(abs_e, hn::Zero(DoubleTag())),
                            hn::Div(abs_d, abs_e));
}

// One pass that makes no assumption about the pairs.
template <class Source, class Value = typename Source::Value>
HWY_INLINE void AddAnyLanes(const Groups<Value>& groups, std::size_t first,
                            PairBound bound, LaneSums& lanes) {
  const DoubleTag d;
  const Doubles zero = hn::Zero(d);
  const Doubles one = hn::Set(d, 1.0);
  const Doubles atol = hn::Set(d, bound.atol);
  const Doubles rtol = hn::Set(d, bound.rtol);
  Doubles nonfinite = zero;
  Doubles mismatch = zero;
  Doubles max_abs_error = zero;
  Doubles max_rel_error = zero;
  Doubles max_abs_expected = zero;
  Doubles error = zero;
  Doubles abs_error = zero;
  Doubles squared_error = zero;
  Doubles squared_expected = zero;

  const auto add = [&](const Value* expected, const Value* second) HWY_ATTR {
    const Doubles raw_e = Source::Load(expected);
    const Doubles raw_second = Source::Load(second);
    const Doubles raw_d = Source::Difference(raw_e, raw_second);
    const DoubleMask finite = Source::Finite(raw_e, raw_second, raw_d);
    const Doubles e = hn::IfThenElseZero(finite, raw_e);
    const Doubles difference = hn::IfThenElseZero(finite, raw_d);
    const Doubles abs_e = hn::Abs(e);
    const Doubles abs_d = hn::Abs(difference);
    const DoubleMask close =
        hn::Or(hn::Lt(abs_d, hn::Add(atol, hn::Mul(rtol, abs_e))),
               hn::Eq(abs_d, zero));
    nonfinite = hn::Add(nonfinite, hn::IfThenZeroElse(finite, one));
    mismatch = hn::Add(mismatch, hn::IfThenZeroElse(close, one));
    max_abs_error = hn::Max(max_abs_error, abs_d);
    max_rel_error = hn::Max(max_rel_error, RelativeError(abs_d, abs_e));
    max_abs_expected = hn::Max(max_abs_expected, abs_e);
    error = hn::Add(error, difference);
    abs_error = hn::Add(abs_error, abs_d);
    // Mul and Add, not MulAdd: the same bits where there is no fused one.
    squared_error = hn::Add(squared_error, hn::Mul(abs_d, abs_d));
    squared_expected = hn::Add(squared_expected, hn::Mul(e, e));
  };
  ForEachGroup(groups, first, add);

  hn::StoreU(nonfinite, d, &lanes.nonfinite[first]);
  hn::StoreU(mismatch, d, &lanes.mismatch[first]);
  hn::StoreU(max_abs_error, d, &lanes.max_abs_error[first]);
  hn::StoreU(max_rel_error, d, &lanes.max_rel_error[first]);
  hn::StoreU(max_abs_expected, d, &lanes.max_abs_expected[first]);
  hn::StoreU(error, d, &lanes.error[first]);
  hn::StoreU(abs_error, d, &lanes.abs_error[first]);
  hn::StoreU(squared_error, d, &lanes.squared_error[first]);
  hn::StoreU(squared_expected, d, &lanes.squared_expected[first]);
}

// One pass over floats that are all finite, or else make the sum of |d| NaN or
// infinite; every sum has the bits AddAnyLanes() gives it. Counts nothing and
// does not divide; says whether a relative error is above known_rel.
HWY_INLINE bool AddUsualLanes(const Groups<float>& groups, std::size_t first,
                              double known_rel, LaneSums& lanes) {
  const DoubleTag d;
  const Doubles zero = hn::Zero(d);
  // A little lower, so that the rounded product below never hides a quotient
  // that rounds to more than known_rel.
  const Doubles rel = hn::Set(d, known_rel * (1 - 0x1p-50));
  DoubleMask above_rel = hn::Lt(zero, zero);
  Doubles max_abs_error = zero;
  Doubles max_abs_expected = zero;
  Doubles error = zero;
  Doubles abs_error = zero;
  Doubles squared_error = zero;
  Doubles squared_expected = zero;

  const auto add = [&](const float* expected, const float* actual) HWY_ATTR {
    const Doubles e = FloatPairs::Load(expected);
    const Doubles difference =
        FloatPairs::Difference(e, FloatPairs::Load(actual));
    const Doubles abs_e = hn::Abs(e);
    const Doubles abs_d = hn::Abs(difference);
    above_rel = hn::Or(above_rel, hn::Gt(abs_d, hn::Mul(rel, abs_e)));
    max_abs_error = hn::Max(max_abs_error, abs_d);
    max_abs_expected = hn::Max(max_abs_expected, abs_e);
    error = hn::Add(error, difference);
    abs_error = hn::Add(abs_error, abs_d);
    squared_error = hn::Add(squared_error, hn::Mul(abs_d, abs_d));
    squared_expected = hn::Add(squared_expected, hn::Mul(e, e));
  };
  ForEachGroup(groups, first, add);

  hn::StoreU(zero, d, &lanes.nonfinite[first]);
  hn::StoreU(zero, d, &lanes.mismatch[first]);
  hn::StoreU(max_abs_error, d, &lanes.max_abs_error[first]);
  hn::StoreU(zero, d, &lanes.max_rel_error[first]);
  hn::StoreU(max_abs_expected, d, &lanes.max_abs_expected[first]);
  hn::StoreU(error, d, &lanes.error[first]);
  hn::StoreU(abs_error, d, &lanes.abs_error[first]);
  hn::StoreU(squared_error, d, &lanes.squared_error[first]);
  hn::StoreU(squared_expected, d, &lanes.squared_expected[first]);
  return !hn::AllFalse(d, above_rel);
}

// One pass for the largest relative error of finite floats alone.
HWY_INLINE void AddRelativeLanes(const Groups<float>& groups, std::size_t first,
                                 LaneSums& lanes) {
  const DoubleTag d;
  Doubles max_rel_error = hn::Zero(d);
  const auto add = [&](const float* expected, const float* actual) HWY_ATTR {
    const Doubles e = FloatPairs::Load(expected);
    const Doubles difference =
        FloatPairs::Difference(e, FloatPairs::Load(actual));
    max_rel_error =
        hn::Max(max_rel_error, RelativeError(hn::Abs(difference), hn::Abs(e)));
  };
  ForEachGroup(groups, first, add);
  hn::StoreU(max_rel_error, d, &lanes.max_rel_error[first]);
}

template <class Source, class Value = typename Source::Value>
LaneSums SumAny(const Groups<Value>& groups, PairBound bound) {
  LaneSums lanes;
  for (std::size_t first = 0; first < kLanes; first += hn::Lanes(DoubleTag()))
    AddAnyLanes<Source>(groups, first, bound, lanes);
  return lanes;
}

inline LaneSums SumFloatGroups(const Groups<float>& groups, PairBound bound,
                               double known_rel) {
  LaneSums lanes;
  bool above_rel = false;
  for (std::size_t first = 0; first < kLanes; first += hn::Lanes(DoubleTag()))
    above_rel |= AddUsualLanes(groups, first, known_rel, lanes);
  if (!AllFiniteAndClose(lanes, bound))
    return SumAny<FloatPairs>(groups, bound);
  if (above_rel) {
    for (std::size_t first = 0; first < kLanes; first += hn::Lanes(DoubleTag()))
      AddRelativeLanes(groups, first, lanes);
  }
  return lanes;
}

}  // namespace parity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // PARITY_KERNELS_COMPARE_KERNELS_INL_H_
