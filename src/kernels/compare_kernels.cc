#include "kernels/compare_kernels.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/cpu_targets.h"  // IWYU pragma: keep
#include "kernels/lane_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>
#include <hwy/targets.h>

#include "kernels/compare_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace parity::HWY_NAMESPACE {

LaneSums SumFloats(const float* expected, const float* actual,
                   std::size_t count, PairBound bound, double known_rel) {
  return SumFloatGroups(Groups<float>(expected, actual, count), bound,
                        known_rel);
}

LaneSums SumDoubles(const double* expected, const double* actual,
                    std::size_t count, PairBound bound) {
  return SumAny<DoublePairs>(Groups<double>(expected, actual, count), bound);
}

LaneSums SumGiven(const double* expected, const double* difference,
                  std::size_t count, PairBound bound) {
  return SumAny<GivenDifferences>(Groups<double>(expected, difference, count),
                                  bound);
}

std::int64_t ThisTarget() { return HWY_TARGET; }

}  // namespace parity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parity {
namespace {

HWY_EXPORT(SumFloats);
HWY_EXPORT(SumDoubles);
HWY_EXPORT(SumGiven);
HWY_EXPORT(ThisTarget);

std::int64_t Count(const LaneSums::Lanes& lanes) {
  return static_cast<std::int64_t>(Sum(lanes));
}

double Max(const LaneSums::Lanes& lanes) { return std::ranges::max(lanes); }

PairSums Reduce(const LaneSums& lanes) {
  return {.nonfinite_count = Count(lanes.nonfinite),
          .mismatch_count = Count(lanes.mismatch),
          .max_abs_error = Max(lanes.max_abs_error),
          .max_rel_error = Max(lanes.max_rel_error),
          .max_abs_expected = Max(lanes.max_abs_expected),
          .sum_error = Sum(lanes.error),
          .sum_abs_error = Sum(lanes.abs_error),
          .sum_squared_error = Sum(lanes.squared_error),
          .sum_squared_expected = Sum(lanes.squared_expected)};
}

}  // namespace

PairSums SumFloatPairs(std::span<const float> expected,
                       std::span<const float> actual, PairBound bound,
                       double known_rel) {
  assert(expected.size() == actual.size());
  return Reduce(HWY_DYNAMIC_DISPATCH(SumFloats)(
      expected.data(), actual.data(), expected.size(), bound, known_rel));
}

PairSums SumDoublePairs(std::span<const double> expected,
                        std::span<const double> actual, PairBound bound) {
  assert(expected.size() == actual.size());
  return Reduce(HWY_DYNAMIC_DISPATCH(SumDoubles)(expected.data(), actual.data(),
                                                 expected.size(), bound));
}

PairSums SumDifferences(std::span<const double> expected,
                        std::span<const double> difference, PairBound bound) {
  assert(expected.size() == difference.size());
  return Reduce(HWY_DYNAMIC_DISPATCH(SumGiven)(
      expected.data(), difference.data(), expected.size(), bound));
}

std::string_view CompareKernelTarget() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(ThisTarget)());
}

std::vector<std::int64_t> RunnableCompareTargets() {
  return hwy::SupportedAndGeneratedTargets();
}

void ForceCompareTarget(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);
}

}  // namespace parity
#endif  // HWY_ONCE
