// Which row of a sweep is the best.
#ifndef PARITY_SWEEP_SWEEP_RANKING_H_
#define PARITY_SWEEP_SWEEP_RANKING_H_

#include <vector>

#include "parity/sweep.h"

namespace parity {

// Steady run times this close, relative to the faster one, are the same: no
// measurement of a few runs tells them apart.
inline constexpr double kSameTime = 0.02;

// The best first: what passed, by steady run time (rows without one last), then
// what could not be told, then what failed; among equals by index.
void RankRows(std::vector<SweepRow>& rows);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_RANKING_H_
