#include <algorithm>
#include <string_view>

#include "parity/diagnosis.h"

namespace parity {

std::string_view Name(Cause cause) {
  switch (cause) {
    case Cause::kContract:
      return "contract";
    case Cause::kNonFinite:
      return "nonfinite";
    case Cause::kExport:
      return "export";
    case Cause::kReference:
      return "reference";
    case Cause::kOptimizer:
      return "optimizer";
    case Cause::kProvider:
      return "provider";
    case Cause::kRuntime:
      return "runtime";
    case Cause::kTie:
      return "tie";
    case Cause::kRounding:
      return "rounding";
    case Cause::kInput:
      return "input";
    case Cause::kLoad:
      return "load";
    case Cause::kNondeterministic:
      break;
  }
  return "nondeterministic";
}

double ErrorBudget::TimesNoise() const {
  double times = 0;
  if (noise_rms > 0) times = std::max(times, total.rms / noise_rms);
  if (noise_max > 0) times = std::max(times, total.max / noise_max);
  return times;
}

}  // namespace parity
