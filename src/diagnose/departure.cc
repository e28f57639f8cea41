#include "diagnose/departure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/noise_model.h"
#include "diagnose/value_alignment.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

// Relative distance below which two float64 values are the same. Weights folded
// in float32 move every value by 1e-7 or so; the fault moves the outputs by
// `wrong` or more, and what lies two orders of magnitude below that is not the
// fault. The least wrong output counts: a selection that comes out otherwise
// makes a small fault large in those that depend on it.
double AlignmentTolerance(const Investigation& investigation) {
  double wrong = std::numeric_limits<double>::infinity();
  double folded = 0;
  for (const ErrorBudget& budget : investigation.budgets()) {
    if (!budget.exported || budget.scale_rms <= 0) continue;
    const double relative = budget.exported->rms / budget.scale_rms;
    if (budget.verdict == NoiseVerdict::kBeyond && std::isfinite(relative)) {
      wrong = std::min(wrong, relative);
    } else {
      folded = std::max(folded, relative);
    }
  }
  if (!std::isfinite(wrong)) wrong = 0;
  return std::clamp(std::max(wrong / 100, 10 * folded), 1e-7, 1e-3);
}

// The float64 graph's outputs that are beyond noise.
std::vector<std::string> WronglyExported(const Investigation& investigation) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < investigation.budgets().size(); ++i) {
    const ErrorBudget& budget = investigation.budgets()[i];
    if (budget.exported && !Within(*budget.exported, {.rms = budget.noise_rms,
                                                      .max = budget.noise_max}))
      names.push_back(investigation.subject().actual[i].name);
  }
  return names;
}

std::vector<TracedValue> DescribeInputs(const NamedTensors& inputs) {
  std::vector<TracedValue> described;
  for (const NamedTensor& input : inputs) {
    described.push_back({.name = input.name,
                         .dtype = input.tensor.dtype(),
                         .shape = input.tensor.shape(),
                         .sketch = SketchOf(input.tensor.view())});
  }
  return described;
}

}  // namespace

std::optional<Divergence> FindDeparture(const Investigation& investigation) {
  const RunResult* const reference = investigation.reference64();
  const RunResult* const graph = investigation.graph64();
  if (reference == nullptr || graph == nullptr || reference->trace.empty())
    return std::nullopt;
  const std::vector<std::string> wrong = WronglyExported(investigation);
  const std::vector<TracedValue> inputs =
      DescribeInputs(investigation.subject().request.inputs);
  return FindDivergence({.graph = investigation.graph(),
                         .reference = reference->trace,
                         .candidate = graph->trace,
                         .inputs = inputs,
                         .wrong_outputs = wrong,
                         .tolerance = AlignmentTolerance(investigation)});
}

bool MayDepartAtInputs(const Investigation& investigation) {
  const std::optional<Divergence> divergence = FindDeparture(investigation);
  return !divergence || divergence->last_agreeing_value.empty() ||
         std::ranges::contains(investigation.subject().request.inputs,
                               divergence->last_agreeing_value,
                               &NamedTensor::name);
}

}  // namespace parity
