// Asks, when all cases have run, why those that differ do: error budgets,
// causes, and the verdict where it depends on them.
#ifndef PARITY_VALIDATE_EXPLAINER_H_
#define PARITY_VALIDATE_EXPLAINER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/repro_folder.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/case_runner.h"

namespace parity {

class Explainer {
 public:
  // Inputs and outputs that wait for their explanation.
  static constexpr std::int64_t kMostKeptBytes = 1'000'000'000;

  // All must outlive it.
  Explainer(const ValidationOptions& options, const Model& model,
            LaboratoryOptions laboratory,
            std::int64_t most_kept_bytes = kMostKeptBytes);

  // After each case, before it is added to the result: judges what needs no
  // float64, and keeps what does.
  void Add(CaseOutcome& outcome, const RunRequest& request);

  // Completes the result: budgets, excuses, findings.
  void Explain(ValidationResult& result);

  // After Explain(): writes the culprit of the most important failing finding
  // as a model of its own, and notes what was written, or why nothing was.
  void WriteRepro(ValidationResult& result, ReproFolder& folder);

  // The candidate could not be loaded, or not run with `request` (null: not
  // loaded).
  [[nodiscard]] Finding ExplainFailure(const Error& error,
                                       const RunRequest* request);

  // The candidate could not run the case `name`, the reference could.
  // Finding::fails tells whether the graph is at fault: it cannot be computed
  // in float64 either, or other cases ran.
  [[nodiscard]] Finding ExplainRun(const Error& error, const std::string& name,
                                   const RunRequest& request, bool others_ran);

  // The reference raised `error` on a case whose candidate gave `actual`
  // (empty: not run).
  [[nodiscard]] Finding ExplainRefusal(const Error& error,
                                       const std::string& name,
                                       const RunRequest& request,
                                       const NamedTensors& actual);

 private:
  struct Kept {
    std::size_t case_index;
    Subject subject;
    std::int64_t bytes;
    bool differs;  // otherwise kept for its batch
  };
  void Keep(CaseOutcome& outcome, const RunRequest& request, bool differs);
  void ExplainCases(ValidationResult& result);
  void ExplainCase(Investigation& investigation, CaseResult& entry,
                   ValidationResult& result);
  void CheckBatches(ValidationResult& result);
  void AddNotes(ValidationResult& result) const;
  [[nodiscard]] Result<std::string> TryRepro(const ValidationResult& result,
                                             ReproFolder& folder);

  const ValidationOptions& options_;
  const Model& model_;
  Laboratory lab_;
  std::int64_t most_kept_bytes_;
  std::size_t case_count_ = 0;
  std::int64_t kept_bytes_ = 0;
  std::size_t unexplained_ = 0;  // cases that differ and were not kept
  std::vector<Kept> kept_;
  std::vector<std::string> contract_notes_;
};

}  // namespace parity

#endif  // PARITY_VALIDATE_EXPLAINER_H_
