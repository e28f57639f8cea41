// Looks up what a combination has on an axis.
#ifndef PARITY_SWEEP_AXIS_VALUE_H_
#define PARITY_SWEEP_AXIS_VALUE_H_

#include <algorithm>
#include <string_view>
#include <vector>

#include "parity/sweep.h"

namespace parity {

// "" for an axis that is not among them. Borrows from `values`.
[[nodiscard]] inline std::string_view ValueOf(
    const std::vector<AxisValue>& values, std::string_view axis) {
  const auto found = std::ranges::find(values, axis, &AxisValue::axis);
  return found == values.end() ? std::string_view() : found->value;
}

}  // namespace parity

#endif  // PARITY_SWEEP_AXIS_VALUE_H_
