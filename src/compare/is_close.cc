#include "compare/is_close.h"

#include <cmath>

#include "parity/tolerance.h"

namespace parity {

bool IsCloseDifference(double expected, double difference,
                       const Tolerance& tolerance) {
  return difference == 0 ||
         std::abs(difference) <
             tolerance.atol + tolerance.rtol * std::abs(expected);
}

bool IsClose(double expected, double actual, const Tolerance& tolerance) {
  // Before any arithmetic: the bound of an infinite expected value is infinite
  // and would let everything pass.
  if (!std::isfinite(expected) || !std::isfinite(actual)) {
    const bool equal =
        expected == actual || (std::isnan(expected) && std::isnan(actual));
    return equal && tolerance.equal_nonfinite;
  }
  return IsCloseDifference(expected, actual - expected, tolerance);
}

}  // namespace parity
