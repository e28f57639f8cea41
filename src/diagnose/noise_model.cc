#include "diagnose/noise_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/dtype.h"

namespace parity {
namespace {

// A multiple of the other side's own error. PyTorch's float64-referenced check
// takes 2 to 3 for two builds of one compiler stack; two independent runtimes
// with their own kernels, fusions and orders of summation need more.
constexpr double kFactor = 16;
// Few elements: a root mean square of a handful is itself a matter of luck.
constexpr std::int64_t kFewElements = 10;
constexpr double kFewFactor = 64;

// What both sides share may be a selection that each of them made otherwise
// than float64. No rounding moves a whole output by more than this.
constexpr double kMostNoise = 0.01;
constexpr double kMostNoiseOfOne = 0.1;

// Units of roundoff below which nothing is looked at. A float16 network adds up
// fewer, coarser errors before they show.
struct FloorFactors {
  double rms;
  double max;
};
FloorFactors FactorsFor(double roundoff) {
  if (roundoff > 1e-5) return {.rms = 16, .max = 64};    // 16 bits
  if (roundoff > 1e-10) return {.rms = 32, .max = 512};  // float32
  return {.rms = 4096, .max = 65536};                    // float64
}

}  // namespace

double UnitRoundoff(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return 0x1p-11;
    case DType::kBFloat16:
      return 0x1p-8;
    case DType::kFloat32:
    case DType::kComplex64:
      return 0x1p-24;
    case DType::kFloat64:
    case DType::kComplex128:
      return 0x1p-53;
    default:
      return 0;
  }
}

std::string_view Name(Leg leg) {
  switch (leg) {
    case Leg::kReference:
      return "reference error";
    case Leg::kExport:
      return "export error";
    case Leg::kRuntime:
      break;
  }
  return "runtime error";
}

NoiseBounds NoiseFloor(double scale_rms, double scale_max, double roundoff) {
  const FloorFactors factors = FactorsFor(roundoff);
  return {.rms = factors.rms * roundoff * scale_rms,
          .max = factors.max * roundoff * scale_max};
}

NoiseBounds NoiseOf(const ErrorBudget& budget, double roundoff,
                    std::int64_t element_count,
                    const std::optional<ErrorSize>& unsplit) {
  NoiseBounds bounds = NoiseFloor(budget.scale_rms, budget.scale_max, roundoff);
  // Without a float64 reference its error is within what the export leg shows.
  const std::optional<ErrorSize>& one =
      budget.reference ? budget.reference : budget.exported;
  const std::optional<ErrorSize>& other =
      budget.runtime ? budget.runtime : unsplit;
  if (!one || !other) return bounds;
  const double factor = element_count <= kFewElements ? kFewFactor : kFactor;
  const auto stretch = [factor](double& bound, double shared, double most) {
    // Infinitely far from both: float64 gave something of another shape.
    if (std::isfinite(shared))
      bound = std::max(bound, std::min(factor * shared, most));
  };
  stretch(bounds.rms, std::min(one->rms, other->rms),
          kMostNoise * budget.scale_rms);
  stretch(bounds.max, std::min(one->max, other->max),
          kMostNoiseOfOne * budget.scale_max);
  return bounds;
}

bool Within(const ErrorSize& error, const NoiseBounds& bounds) {
  return error.nonfinite_disagreements == 0 && error.mismatches == 0 &&
         error.rms <= bounds.rms && error.max <= bounds.max;
}

std::vector<Leg> GuiltyLegs(const ErrorBudget& budget) {
  const NoiseBounds bounds{.rms = budget.noise_rms, .max = budget.noise_max};
  std::vector<Leg> guilty;
  const auto check = [&](std::optional<ErrorSize> error, Leg leg) {
    // What overflows in float32 on both sides alike is finite in float64. The
    // export leg of a recording starts from float32, too.
    if (error && (leg != Leg::kExport || !budget.reference) &&
        budget.total.nonfinite_disagreements == 0)
      error->nonfinite_disagreements = 0;
    if (error && !Within(*error, bounds)) guilty.push_back(leg);
  };
  check(budget.reference, Leg::kReference);
  check(budget.exported, Leg::kExport);
  check(budget.runtime, Leg::kRuntime);
  return guilty;
}

}  // namespace parity
