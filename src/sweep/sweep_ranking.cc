#include "sweep/sweep_ranking.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "parity/sweep.h"
#include "parity/validation.h"

namespace parity {
namespace {

// Infinite where it was not measured.
double SteadyTime(const SweepRow& row) {
  const double time =
      row.steady_run_ms.value_or(std::numeric_limits<double>::infinity());
  return std::isnan(time) ? std::numeric_limits<double>::infinity() : time;
}

// Rows that differ in nothing but their shape, as far as they passed.
struct Combination {
  std::vector<AxisValue> axes;  // without the shape
  std::size_t passed = 0;
  double time = 0;  // of all that passed
  bool ran_nothing = false;
  std::size_t index = 0;              // of the first
  const SweepRow* slowest = nullptr;  // the largest shape, as a rule
};

std::vector<Combination> PassingCombinations(
    const std::vector<SweepRow>& rows) {
  std::vector<Combination> combinations;
  for (const SweepRow& row : rows) {
    if (row.verdict != Verdict::kPassed) continue;
    std::vector<AxisValue> axes = row.axes;
    std::erase_if(axes,
                  [](const AxisValue& entry) { return entry.axis == "shape"; });
    auto found =
        row.Axis("shape").empty()
            ? combinations.end()
            : std::ranges::find(combinations, axes, &Combination::axes);
    if (found == combinations.end()) {
      combinations.push_back({.axes = std::move(axes), .index = row.index});
      found = std::prev(combinations.end());
    }
    ++found->passed;
    found->time += SteadyTime(row);
    found->ran_nothing |= row.provider_ran_nothing();
    found->index = std::min(found->index, row.index);
    if (found->slowest == nullptr ||
        SteadyTime(row) > SteadyTime(*found->slowest))
      found->slowest = &row;
  }
  return combinations;
}

int Place(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return 0;
    case Verdict::kUndecided:
      return 1;
    case Verdict::kFailed:
      break;
  }
  return 2;
}

}  // namespace

void RankRows(std::vector<SweepRow>& rows) {
  const auto rank = [](const SweepRow& row) {
    const bool passed = row.verdict == Verdict::kPassed;
    return std::tuple(Place(row.verdict), passed ? SteadyTime(row) : 0.0,
                      row.index);
  };
  std::ranges::stable_sort(rows, {}, rank);
}

// What is shipped has to do for all shapes that were tried: what passes at most
// of them, and is fastest over those. Times at different shapes say nothing
// about each other. A combination whose provider ran nothing measures the
// fallback, under a name that promises something else: it is proposed only when
// there is no other. Among the fastest, the first in the order of the axes,
// which list defaults first.
const SweepRow* SweepResult::recommended() const {
  std::vector<Combination> candidates = PassingCombinations(rows);
  if (candidates.empty()) return nullptr;
  const std::size_t most =
      std::ranges::max(candidates, {}, &Combination::passed).passed;
  std::erase_if(candidates, [&](const Combination& combination) {
    return combination.passed < most;
  });
  if (!std::ranges::all_of(candidates, &Combination::ran_nothing))
    std::erase_if(candidates, &Combination::ran_nothing);
  const double fastest =
      std::ranges::min(candidates, {}, &Combination::time).time;
  std::erase_if(candidates, [&](const Combination& combination) {
    return combination.time > fastest * (1 + kSameTime);
  });
  return std::ranges::min(candidates, {}, &Combination::index).slowest;
}

}  // namespace parity
