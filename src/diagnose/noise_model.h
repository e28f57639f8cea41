// How far two float computations of one thing may be apart. The model and where
// it comes from: docs/numerics.md.
#ifndef PARITY_DIAGNOSE_NOISE_MODEL_H_
#define PARITY_DIAGNOSE_NOISE_MODEL_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "parity/diagnosis.h"
#include "parity/dtype.h"

namespace parity {

// Half the distance between 1 and the next number: 2^-24 for float32. 0 for
// integers and bool.
[[nodiscard]] double UnitRoundoff(DType dtype);

// The parts of a budget that may be at fault.
enum class Leg : std::uint8_t { kReference, kExport, kRuntime };
[[nodiscard]] std::string_view Name(Leg leg);

struct NoiseBounds {
  double rms = 0;
  double max = 0;
};

// What rounding alone explains at the scale of an output, whatever computes it:
// a difference below it needs no float64. `roundoff` is that of the coarsest
// type the two sides compute in.
[[nodiscard]] NoiseBounds NoiseFloor(double scale_rms, double scale_max,
                                     double roundoff);

// The floor, or a multiple of the smaller of the two sides' own errors where
// both were measured. An error that both sides share in size is conditioning,
// one that only one of them has is a fault. `unsplit` is the candidate's
// distance from the float64 reference, for budgets without a float64 graph.
[[nodiscard]] NoiseBounds NoiseOf(
    const ErrorBudget& budget, double roundoff, std::int64_t element_count,
    const std::optional<ErrorSize>& unsplit = std::nullopt);

// Whether an error is explained by noise. Disagreements about what is finite,
// and differing integers, never are.
[[nodiscard]] bool Within(const ErrorSize& error, const NoiseBounds& bounds);

// The legs that are beyond noise; empty when rounding explains all.
[[nodiscard]] std::vector<Leg> GuiltyLegs(const ErrorBudget& budget);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_NOISE_MODEL_H_
