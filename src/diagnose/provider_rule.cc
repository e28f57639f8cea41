#include <format>
#include <optional>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/local_errors.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"

namespace parity {

std::optional<Finding> ExamineProvider(const Investigation& investigation) {
  Laboratory& lab = investigation.lab();
  const LoadRequest& candidate = lab.options().candidate;
  if (candidate.provider.empty() || candidate.provider == kCpuProviderName)
    return std::nullopt;
  lab.Progress("explaining: the CPU execution provider");
  LoadRequest load = candidate;
  load.provider = kCpuProviderName;
  const auto run = lab.CandidateVariant(
      load, {.inputs = investigation.subject().request.inputs});
  if (!run) return std::nullopt;
  const Agreement agreement = investigation.CompareWithTruth(run->outputs);
  if (!agreement.agrees) return std::nullopt;
  Finding finding = investigation.MakeFinding(
      Cause::kProvider, Confidence::kCertain,
      std::format("{} computes it wrong, the CPU execution provider is right",
                  candidate.provider));
  finding.evidence.push_back({.name = "max error on the CPU execution provider",
                              .value = Text(agreement.max_error)});
  AddLocalErrors(investigation, candidate, kDefaultWindowBytes, finding);
  return finding;
}

}  // namespace parity
