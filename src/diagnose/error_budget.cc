#include "diagnose/error_budget.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "diagnose/noise_model.h"
#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

constexpr Tolerance kExact{.atol = 0, .rtol = 0, .equal_nonfinite = true};

// Of what both precisions agree on: float64 goes on where float32 overflows,
// and a faulty side may be full of rubbish.
NoiseBounds ScaleOf(const OutputVersions& versions) {
  NoiseBounds scale = ScaleOf(*versions.expected);
  if (versions.expected64 == nullptr) return scale;
  const NoiseBounds exact = ScaleOf(*versions.expected64);
  return {.rms = std::min(scale.rms, exact.rms),
          .max = std::min(scale.max, exact.max)};
}

double Roundoff(const OutputVersions& versions) {
  return std::max({UnitRoundoff(versions.expected->dtype()),
                   UnitRoundoff(versions.actual->dtype()), versions.roundoff});
}

NoiseVerdict Judge(const ErrorBudget& budget, double roundoff) {
  if (Within(budget.total,
             NoiseFloor(budget.scale_rms, budget.scale_max, roundoff)))
    return NoiseVerdict::kWithin;
  // Without float64 nobody knows how large the noise is.
  if (!budget.exported && !budget.reference && !budget.runtime)
    return NoiseVerdict::kUnknown;
  if (budget.total.nonfinite_disagreements > 0 || budget.total.mismatches > 0 ||
      !GuiltyLegs(budget).empty())
    return NoiseVerdict::kBeyond;
  // Each leg may use up its allowance.
  if (budget.exported && budget.runtime) return NoiseVerdict::kWithin;
  return Within(budget.total,
                {.rms = budget.noise_rms, .max = budget.noise_max})
             ? NoiseVerdict::kWithin
             : NoiseVerdict::kUnknown;
}

}  // namespace

NoiseBounds ScaleOf(const Tensor& tensor) {
  const Result<Comparison> self = Compare(tensor.view(), tensor.view(), kExact);
  if (!self) return {};
  return {.rms = self->expected_rms, .max = self->max_abs_expected};
}

ErrorSize SizeOfError(const Tensor& expected, const Tensor& actual) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Result<Comparison> comparison =
      Compare(expected.view(), actual.view(), kExact);
  if (!comparison) return {.rms = kInfinity, .max = kInfinity};
  const bool floating =
      IsFloating(expected.dtype()) || IsFloating(actual.dtype());
  return {.rms = comparison->rms_error,
          .max = comparison->max_abs_error,
          .nonfinite_disagreements = comparison->nonfinite_disagreements,
          .mismatches = floating ? 0 : comparison->mismatch_count};
}

ErrorBudget MeasureBudget(const OutputVersions& versions) {
  ErrorBudget budget;
  budget.total = SizeOfError(*versions.expected, *versions.actual);
  if (versions.expected64 != nullptr)
    budget.reference = SizeOfError(*versions.expected64, *versions.expected);
  std::optional<ErrorSize> unsplit;
  if (versions.expected64 != nullptr && versions.graph64 == nullptr)
    unsplit = SizeOfError(*versions.expected64, *versions.actual);
  if (versions.graph64 != nullptr) {
    budget.exported =
        SizeOfError(versions.expected64 != nullptr ? *versions.expected64
                                                   : *versions.expected,
                    *versions.graph64);
    budget.runtime = SizeOfError(*versions.graph64, *versions.actual);
  }
  const NoiseBounds scale = ScaleOf(versions);
  budget.scale_rms = scale.rms;
  budget.scale_max = scale.max;
  const double roundoff = Roundoff(versions);
  const NoiseBounds noise =
      NoiseOf(budget, roundoff, versions.expected->element_count(), unsplit);
  budget.noise_rms = noise.rms;
  budget.noise_max = noise.max;
  budget.verdict = Judge(budget, roundoff);
  return budget;
}

}  // namespace parity
