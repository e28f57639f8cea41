#include "sweep/sweep_ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
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

// A row whose provider ran nothing measures the fallback, under a name that
// promises something else: it is proposed only when there is no other. Among
// the fastest, the first in the order of the axes, which list defaults first.
const SweepRow* SweepResult::recommended() const {
  std::vector<const SweepRow*> candidates;
  for (const SweepRow& row : rows) {
    if (row.verdict == Verdict::kPassed) candidates.push_back(&row);
  }
  const auto ran_nothing = [](const SweepRow* row) {
    return row->provider_ran_nothing();
  };
  if (!std::ranges::all_of(candidates, ran_nothing))
    std::erase_if(candidates, ran_nothing);
  if (candidates.empty()) return nullptr;
  const auto time = [](const SweepRow* row) { return SteadyTime(*row); };
  const double fastest = time(*std::ranges::min_element(candidates, {}, time));
  std::erase_if(candidates, [&](const SweepRow* row) {
    return time(row) > fastest * (1 + kSameTime);
  });
  const auto index = [](const SweepRow* row) { return row->index; };
  return *std::ranges::min_element(candidates, {}, index);
}

}  // namespace parity
