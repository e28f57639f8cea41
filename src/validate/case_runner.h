// Runs one case on both sides and compares: contract first, then the numbers.
#ifndef PARITY_VALIDATE_CASE_RUNNER_H_
#define PARITY_VALIDATE_CASE_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {

// What all cases of one validation share.
struct CaseContext {
  Backend& reference;
  Backend& candidate;
  const Contract& contract;
  Tolerance tolerance;
  const std::map<std::string, double>& output_atol;
  const std::map<std::string, double>& output_rtol;
  std::optional<DType>
      floating_dtype;  // what the candidate's floating outputs should be;
                       // nothing: as the reference's
  std::function<void(std::string_view)> progress;
};

// What a case adds to the report beside its own result.
struct CaseOutcome {
  CaseResult result;
  std::vector<std::string> notes;
  // Also notes: how the two sides' outputs were paired where their names
  // differ.
  std::vector<std::string> contract_notes;
  std::int64_t reference_rss_bytes = 0;
  std::int64_t candidate_rss_bytes = 0;
  // What was compared, as result.outputs: entry i of one belongs to entry i of
  // the others.
  NamedTensors expected;
  NamedTensors actual;
  std::vector<std::string> changed_inputs;  // by the reference
  // Set when the candidate could not run the case.
  std::optional<Error> candidate_error;
};

// What both sides gave for one request.
struct SideRuns {
  RunResult expected;
  RunResult actual;
};

// Contract first, then the numbers. The request's inputs are named as the ONNX
// inputs, in the model's order; it asks for all outputs. Errors: those of
// comparing.
[[nodiscard]] Result<CaseOutcome> CompareRuns(const CaseContext& context,
                                              const std::string& name,
                                              const RunRequest& request,
                                              const SideRuns& runs);

// The outcome of a case that the candidate could not run. Errors: kInterrupted
// when that is why.
[[nodiscard]] Result<CaseOutcome> FailedCase(const std::string& name,
                                             const RunResult& expected,
                                             const Error& error);

// Runs the reference, then the candidate, and compares. A candidate that fails
// is part of the outcome. Errors: those of the reference, too, and
// kInterrupted.
[[nodiscard]] Result<CaseOutcome> RunCase(const CaseContext& context,
                                          const std::string& name,
                                          const RunRequest& request);

}  // namespace parity

#endif  // PARITY_VALIDATE_CASE_RUNNER_H_
