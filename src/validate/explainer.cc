#include "validate/explainer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/stopwatch.h"
#include "diagnose/diagnosis.h"
#include "diagnose/error_budget.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "diagnose/repro.h"
#include "diagnose/repro_folder.h"
#include "diagnose/rules.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/case_judgement.h"
#include "validate/case_runner.h"

namespace parity {
namespace {

std::int64_t BytesOf(const NamedTensors& tensors) {
  std::int64_t bytes = 0;
  for (const NamedTensor& entry : tensors)
    bytes += static_cast<std::int64_t>(entry.tensor.bytes().size());
  return bytes;
}

// Smaller is more important: failures, then what is beyond noise although it
// passes, then what is let go, the more surprising first.
int Importance(const Finding& finding) {
  if (finding.fails) return 0;
  switch (finding.cause) {
    case Cause::kTie:
      return 2;
    case Cause::kNonFinite:
      return 3;
    case Cause::kContract:
      return 4;
    case Cause::kRounding:
      return 5;
    default:
      return 1;
  }
}

// For what is left of a case after a tie was excused.
Finding BeyondTheTie(const Finding& tie) {
  Finding finding;
  finding.cause = Cause::kRounding;
  finding.confidence = Confidence::kCertain;
  finding.case_name = tie.case_name;
  finding.message = std::format(
      "fails the threshold by rounding alone: outside a selection between "
      "equal "
      "scores the largest difference is {}",
      Text(std::ranges::max(tie.residuals)));
  return finding;
}

// What a finding says of a case that passed its tolerance.
std::string AsDisagreement(const Investigation& investigation,
                           const Finding& finding) {
  double times = 0;
  bool is_known = false;
  for (const ErrorBudget& budget : investigation.budgets()) {
    times = std::max(times, budget.TimesNoise());
    is_known = is_known || budget.verdict == NoiseVerdict::kBeyond;
  }
  if (!is_known)
    return std::format(
        "passes the threshold; whether that is float noise could not be "
        "measured: {}",
        finding.message);
  return std::format("passes the threshold, but {:.0f} × above float noise: {}",
                     times, finding.message);
}

}  // namespace

Explainer::Explainer(const ValidationOptions& options, const Model& model,
                     LaboratoryOptions laboratory, std::int64_t most_kept_bytes)
    : options_(options),
      model_(model),
      lab_(std::move(laboratory)),
      most_kept_bytes_(most_kept_bytes) {}

void Explainer::Add(CaseOutcome& outcome, const RunRequest& request) {
  bool differs = !outcome.result.contract_failures.empty();
  for (std::size_t i = 0; i < outcome.result.outputs.size(); ++i) {
    OutputResult& output = outcome.result.outputs[i];
    output.criterion = options_.criterion;
    if (output.comparison) {
      output.budget =
          MeasureBudget({.expected = &outcome.expected[i].tensor,
                         .actual = &outcome.actual[i].tensor,
                         .roundoff = WorkingRoundoff(model_.graph)});
    }
    differs = differs || IsSuspicious(output) || !output.passed();
  }
  if (options_.explain != Explain::kNever ||
      options_.criterion == Criterion::kNoise) {
    differs = differs || options_.explain == Explain::kAlways;
    Keep(outcome, request, differs);
  }
  for (const std::string& note : outcome.contract_notes) {
    if (!std::ranges::contains(contract_notes_, note))
      contract_notes_.push_back(note);
  }
  ++case_count_;
}

void Explainer::Keep(CaseOutcome& outcome, const RunRequest& request,
                     bool differs) {
  const bool batched = !request.inputs.empty() &&
                       !request.inputs.front().tensor.shape().empty() &&
                       request.inputs.front().tensor.shape().front() > 1 &&
                       lab_.has_reference() &&
                       lab_.options().reference_kind == ModelKind::kTorchScript;
  if (!differs && !batched) return;
  const std::int64_t bytes = BytesOf(request.inputs) +
                             BytesOf(outcome.expected) +
                             BytesOf(outcome.actual);
  const auto is_full = [&] { return kept_bytes_ + bytes > most_kept_bytes_; };
  // What agrees makes room for what does not.
  if (differs && is_full()) {
    std::erase_if(kept_, [this](const Kept& kept) {
      if (!kept.differs) kept_bytes_ -= kept.bytes;
      return !kept.differs;
    });
  }
  if (is_full() && !kept_.empty()) {
    if (differs) ++unexplained_;
    return;
  }
  kept_bytes_ += bytes;
  kept_.push_back(
      {.case_index = case_count_,
       .subject = {.name = outcome.result.name,
                   .request = request,
                   .expected = std::move(outcome.expected),
                   .actual = std::move(outcome.actual),
                   .contract_failures = ContractFailures(outcome.result),
                   .changed_inputs = outcome.changed_inputs},
       .bytes = bytes,
       .differs = differs});
}

void Explainer::Explain(ValidationResult& result) {
  const Stopwatch time;
  if (options_.explain != Explain::kNever ||
      options_.criterion == Criterion::kNoise) {
    ExplainCases(result);
    CheckBatches(result);
    AddNotes(result);
  }
  std::ranges::stable_sort(result.findings, std::less<>(), Importance);
  result.explain_ms = time.milliseconds();
}

void Explainer::ExplainCases(ValidationResult& result) {
  // Budgets first: the rules look at which cases pass.
  std::vector<Investigation> investigations;
  investigations.reserve(kept_.size());
  std::vector<std::size_t> order;
  for (const Kept& kept : kept_) {
    if (!kept.differs) continue;
    Investigation& investigation =
        investigations.emplace_back(kept.subject, model_, lab_);
    investigation.MeasureBudgets();
    CaseResult& entry = result.cases[kept.case_index];
    for (std::size_t i = 0; i < entry.outputs.size(); ++i)
      entry.outputs[i].budget = investigation.budgets()[i];
    order.push_back(kept.case_index);
    for (const std::string& note : investigation.notes()) {
      if (!std::ranges::contains(result.notes, note))
        result.notes.push_back(note);
    }
  }
  for (std::size_t i = 0; i < investigations.size(); ++i)
    ExplainCase(investigations[i], result.cases[order[i]], result);
  if (unexplained_ > 0) {
    result.notes.push_back(std::format(
        "{} more cases differ and were not explained: their tensors take more "
        "than {} MB",
        unexplained_, most_kept_bytes_ / 1'000'000));
  }
}

void Explainer::ExplainCase(Investigation& investigation, CaseResult& entry,
                            ValidationResult& result) {
  const bool passed = entry.passed();
  // One proven fault is enough; a tie must be shown for every case.
  const bool settled = std::ranges::any_of(
      result.findings, [](const Finding& finding) { return finding.fails; });
  const bool beyond = std::ranges::any_of(entry.outputs, IsBeyond) ||
                      !entry.contract_failures.empty();
  if (settled && (beyond || !passed)) return;
  if (options_.explain == Explain::kNever) {
    // The noise criterion's verdict needs no cause, but to know a tie.
    const std::optional<Finding> tie =
        beyond ? ExamineTies(investigation) : std::nullopt;
    if (tie && !options_.strict_ties) Excuse(*tie, entry);
    return;
  }
  std::vector<Finding> findings =
      Diagnose(investigation, {.cases = Summarize(result.cases),
                               .window_bytes = options_.limits.memory_bytes / 4,
                               .strict_ties = options_.strict_ties});
  for (Finding& finding : findings) {
    if (finding.cause == Cause::kTie && !finding.fails) Excuse(finding, entry);
    if (passed && finding.fails) {
      finding.message = AsDisagreement(investigation, finding);
      finding.fails = false;
    }
    if (!passed && finding.cause == Cause::kRounding)
      finding.message =
          "fails the threshold by rounding alone: " + finding.message;
    const auto known =
        std::ranges::find_if(result.findings, [&](const Finding& other) {
          return other.cause == finding.cause && !finding.fails &&
                 !other.fails && other.node == finding.node;
        });
    if (known != result.findings.end()) continue;
    if (finding.cause == Cause::kTie && !finding.fails && !entry.passed())
      result.findings.push_back(BeyondTheTie(finding));
    result.findings.push_back(std::move(finding));
  }
}

void Explainer::CheckBatches(ValidationResult& result) {
  const bool settled = std::ranges::any_of(
      result.findings, [](const Finding& finding) { return finding.fails; });
  if (settled || options_.explain == Explain::kNever) return;
  for (const Kept& kept : kept_) {
    std::optional<Finding> finding = ExamineBatch(lab_, model_, kept.subject);
    if (!finding) continue;
    result.findings.push_back(*std::move(finding));
    return;
  }
}

// What a result has to explain although nothing was investigated.
void Explainer::AddNotes(ValidationResult& result) const {
  if (unexplained_ > 0 || result.error) return;
  double largest = 0;
  std::string nonfinite;
  for (const CaseResult& entry : result.cases) {
    for (const OutputResult& output : entry.outputs) {
      if (!output.comparison) continue;
      largest = std::max(largest, output.comparison->max_abs_error);
      if (output.comparison->expected_nonfinite.total() > 0 &&
          output.comparison->nonfinite_disagreements == 0)
        nonfinite = std::format("{} (case {})", output.name, entry.name);
    }
  }
  const auto add = [&](Cause cause, std::string message) {
    if (std::ranges::contains(result.findings, cause, &Finding::cause)) return;
    Finding finding;
    finding.cause = cause;
    finding.confidence = Confidence::kCertain;
    finding.message = std::move(message);
    finding.fails = false;
    result.findings.push_back(std::move(finding));
  };
  if (!nonfinite.empty()) {
    add(Cause::kNonFinite,
        std::format("NaN or infinity on both sides, at the same places: {}",
                    nonfinite));
  }
  for (const std::string& note : contract_notes_) add(Cause::kContract, note);
  const bool explained =
      std::ranges::any_of(result.findings, [](const Finding& finding) {
        return finding.cause != Cause::kContract &&
               finding.cause != Cause::kNonFinite;
      });
  if (largest > 0 && !explained && result.verdict() == Verdict::kPassed) {
    add(Cause::kRounding,
        std::format("nothing but rounding: the largest difference is {}",
                    Text(largest)));
  }
}

void Explainer::WriteRepro(ValidationResult& result, ReproFolder& folder) {
  const Result<std::string> written = TryRepro(result, folder);
  result.notes.push_back(
      written ? std::format("repro: {} is in {}; its README.md says how to "
                            "replay it",
                            *written, options_.repro.string())
              : std::format("no repro: {}", written.error().message));
}

Result<std::string> Explainer::TryRepro(const ValidationResult& result,
                                        ReproFolder& folder) {
  const auto finding = std::ranges::find_if(result.findings, &Finding::fails);
  if (finding == result.findings.end()) {
    std::string why = "nothing fails";
    if (result.verdict() == Verdict::kFailed) {
      why = options_.explain == Explain::kNever
                ? "with --explain never nobody asked whose fault it is"
                : "the ONNX file is not at fault";
    }
    return Fail(ErrorCode::kUnsupported, std::move(why));
  }
  const auto kept = std::ranges::find_if(kept_, [&](const Kept& entry) {
    return entry.subject.name == finding->case_name;
  });
  if (kept == kept_.end()) {
    return Fail(ErrorCode::kUnsupported,
                "there are no outputs of the case to compare with");
  }
  return parity::WriteRepro({.options = options_,
                             .result = result,
                             .finding = *finding,
                             .subject = kept->subject,
                             .model = model_,
                             .lab = lab_},
                            folder);
}

Finding Explainer::ExplainFailure(const Error& error,
                                  const RunRequest* request) {
  return ExamineLoadFailure(lab_, &model_, error, request);
}

Finding Explainer::ExplainRefusal(const Error& error, const std::string& name,
                                  const RunRequest& request,
                                  const NamedTensors& actual) {
  return ExamineRefusal(lab_, error, name, request, actual);
}

Finding Explainer::ExplainRun(const Error& error, const std::string& name,
                              const RunRequest& request, bool others_ran) {
  Finding finding;
  if (options_.explain != Explain::kNever) {
    const Result<RunResult> exact = lab_.Graph64({.inputs = request.inputs});
    if (!exact && exact.error().code == ErrorCode::kBackend) {
      finding.cause = Cause::kExport;
      finding.confidence = Confidence::kCertain;
      finding.message = std::format(
          "the graph cannot be computed for inputs that the reference takes: a "
          "value was baked in while tracing ({})",
          error.message);
      finding.evidence.push_back(
          {.name = "in float64", .value = exact.error().message});
    } else {
      finding = ExamineLoadFailure(lab_, &model_, error, &request);
      if (finding.cause == Cause::kLoad) finding.cause = Cause::kRuntime;
    }
    finding.case_name = name;
  } else {
    finding.cause = Cause::kRuntime;
    finding.message = error.message;
    finding.case_name = name;
  }
  // A worker that died says nothing about the graph.
  finding.fails = error.code != ErrorCode::kWorkerDied &&
                  (finding.cause == Cause::kExport || others_ran);
  return finding;
}

}  // namespace parity
