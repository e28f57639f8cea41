#include "validate/case_runner.h"

#include <algorithm>
#include <expected>
#include <format>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "graph/model.h"
#include "parity/compare.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {
namespace {

std::vector<std::string> NamesOf(const NamedTensors& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const NamedTensor& entry : tensors) names.push_back(entry.name);
  return names;
}

Tolerance ToleranceFor(const CaseContext& context, const std::string& output) {
  Tolerance tolerance = context.tolerance;
  if (const auto found = context.output_atol.find(output);
      found != context.output_atol.end())
    tolerance.atol = found->second;
  if (const auto found = context.output_rtol.find(output);
      found != context.output_rtol.end())
    tolerance.rtol = found->second;
  return tolerance;
}

void NoteChangedInputs(std::string_view side, const RunResult& run,
                       const std::string& case_name, CaseOutcome& outcome) {
  for (const std::string& input : run.changed_inputs) {
    outcome.notes.push_back(
        std::format("the {} changes its input {} while it runs (case {})", side,
                    input, case_name));
  }
}

// Declared shapes against what the case fed and the candidate gave.
std::vector<std::string> CheckDeclaredShapes(const Contract& contract,
                                             const NamedTensors& inputs,
                                             const NamedTensors& outputs) {
  std::vector<std::string> failures;
  DimensionBindings bindings;
  const auto check = [&](const std::vector<ValueInfo>& declared,
                         const NamedTensors& actual) {
    for (const ValueInfo& value : declared) {
      const Tensor* const tensor = FindTensor(actual, value.name);
      if (tensor == nullptr) continue;
      if (value.dtype && *value.dtype != tensor->dtype()) {
        failures.push_back(std::format("{} is {}, declared is {}", value.name,
                                       Name(tensor->dtype()),
                                       Name(*value.dtype)));
      }
      std::ranges::move(bindings.Bind(value, tensor->shape()),
                        std::back_inserter(failures));
    }
  };
  check(contract.inputs, inputs);
  check(contract.outputs, outputs);
  return failures;
}

Result<OutputResult> CompareOutput(const CaseContext& context,
                                   const NamedTensor& expected,
                                   const NamedTensor& actual) {
  OutputResult output{.name = actual.name,
                      .shape = expected.tensor.shape(),
                      .dtype = std::string(Name(actual.tensor.dtype())),
                      .tolerance = ToleranceFor(context, actual.name),
                      .contract_failures = {},
                      .comparison = {},
                      .budget = {}};
  const DType expected_dtype =
      context.floating_dtype && IsFloating(expected.tensor.dtype())
          ? *context.floating_dtype
          : expected.tensor.dtype();
  output.contract_failures =
      CompareSignatures(expected.tensor, actual.tensor, expected_dtype);
  if (!output.contract_failures.empty()) return output;
  auto comparison =
      Compare(expected.tensor.view(), actual.tensor.view(), output.tolerance);
  if (!comparison)
    return std::unexpected(std::move(comparison).error().In(actual.name));
  output.comparison = *comparison;
  return output;
}

}  // namespace

Result<CaseOutcome> CompareRuns(const CaseContext& context,
                                const std::string& name,
                                const RunRequest& request,
                                const SideRuns& runs) {
  const RunResult& expected = runs.expected;
  const RunResult& actual = runs.actual;
  CaseOutcome outcome;
  outcome.result.name = name;
  outcome.result.reference_run_ms = expected.run_ms;
  outcome.result.candidate_run_ms = actual.run_ms;
  outcome.result.candidate_repeat_ms = actual.repeat_ms;
  outcome.reference_rss_bytes = expected.peak_rss_bytes;
  outcome.candidate_rss_bytes = actual.peak_rss_bytes;
  NoteChangedInputs("reference", expected, name, outcome);
  NoteChangedInputs("candidate", actual, name, outcome);

  const OutputPairing pairing =
      PairOutputs(NamesOf(expected.outputs), NamesOf(actual.outputs));
  outcome.result.contract_failures = pairing.failures;
  outcome.contract_notes = pairing.notes;
  std::ranges::move(
      CheckDeclaredShapes(context.contract, request.inputs, actual.outputs),
      std::back_inserter(outcome.result.contract_failures));

  context.progress(std::format("{}: comparing", name));
  const Stopwatch time;
  for (const OutputPairing::Pair& pair : pairing.pairs) {
    PARITY_ASSIGN_OR_RETURN(
        OutputResult output,
        CompareOutput(context, expected.outputs[pair.expected],
                      actual.outputs[pair.actual]));
    outcome.result.outputs.push_back(std::move(output));
    outcome.expected.push_back(expected.outputs[pair.expected]);
    outcome.actual.push_back(actual.outputs[pair.actual]);
  }
  outcome.changed_inputs = expected.changed_inputs;
  outcome.result.compare_ms = time.milliseconds();
  return outcome;
}

Result<CaseOutcome> FailedCase(const std::string& name,
                               const RunResult& expected, const Error& error) {
  if (error.code == ErrorCode::kInterrupted) return std::unexpected(error);
  CaseOutcome outcome;
  outcome.result.name = name;
  outcome.result.reference_run_ms = expected.run_ms;
  outcome.result.error = error;
  outcome.reference_rss_bytes = expected.peak_rss_bytes;
  outcome.candidate_error = error;
  return outcome;
}

Result<CaseOutcome> RunCase(const CaseContext& context, const std::string& name,
                            const RunRequest& request) {
  SideRuns runs;
  context.progress(std::format("{}: running the reference", name));
  PARITY_ASSIGN_OR_RETURN(runs.expected, context.reference.Run(request));
  context.progress(std::format("{}: running the candidate", name));
  Result<RunResult> actual = context.candidate.Run(request);
  if (!actual) return FailedCase(name, runs.expected, actual.error());
  runs.actual = *std::move(actual);
  return CompareRuns(context, name, request, runs);
}

}  // namespace parity
