#include <cstdint>
#include <format>
#include <optional>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/local_errors.h"
#include "diagnose/rounding_casts.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"

namespace parity {

std::optional<Finding> ExamineRuntime(const Investigation& investigation,
                                      std::int64_t window_bytes) {
  const LoadRequest& candidate = investigation.lab().options().candidate;
  Finding finding =
      investigation.MakeFinding(Cause::kRuntime, Confidence::kLikely, "");
  const bool examined =
      AddLocalErrors(investigation, candidate, window_bytes, finding);
  // Only a node that is wrong on its own inputs convicts the runtime.
  if (!finding.node.empty()) {
    finding.confidence = Confidence::kCertain;
    finding.message =
        std::format("the runtime computes {} ({}) wrong on its own inputs",
                    finding.node, finding.op);
  } else {
    // The graph may be so ill-conditioned that any float32 computation is off.
    const auto native = investigation.lab().GraphNative(
        {.inputs = investigation.subject().request.inputs});
    const Agreement agreement =
        native ? investigation.CompareWithTruth(native->outputs)
               : Agreement{.agrees = true};
    if (!agreement.agrees) {
      finding.cause = Cause::kExport;
      // The first: those after it round what is rounded.
      const auto casts = RoundingCasts(investigation.graph());
      if (!casts.empty())
        investigation.Locate(finding, NodeLabel(*casts.front()));
      finding.message =
          "the graph loses the precision that the reference keeps: PyTorch's "
          "own kernels are as far from float64 when they compute this graph";
      finding.evidence.push_back(
          {.name = "max error of PyTorch's kernels on this graph",
           .value = Text(agreement.max_error)});
    } else {
      finding.message =
          examined ? "the runtime's result is off, and no single node is wrong "
                     "on its own inputs"
                   : "the runtime's result is off; its nodes could not be "
                     "examined one by one";
    }
  }
  return finding;
}

}  // namespace parity
