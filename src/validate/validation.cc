// The life of one validation: plan, load both sides in parallel, run every
// case, add it up.
#include "parity/validation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "base/file_mapping.h"
#include "base/measurement_lock.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "diagnose/repro_folder.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/case_inputs.h"
#include "validate/case_plan.h"
#include "validate/case_runner.h"
#include "validate/case_variations.h"
#include "validate/contract.h"
#include "validate/explainer.h"
#include "validate/options_check.h"
#include "validate/recorded_backend.h"
#include "validate/reference_source.h"
#include "validate/side_pair.h"
#include "validate/varied_inputs.h"

namespace parity {
namespace {

// One validation in progress.
class Validator {
 public:
  explicit Validator(const ValidationOptions& options) : options_(options) {}

  Result<ValidationResult> Run() {
    const Stopwatch time;
    if (!options_.repro.empty()) {
      // Before the run: a bad path costs a second, not an hour.
      PARITY_ASSIGN_OR_RETURN(ReproFolder folder,
                              ReproFolder::Create(options_.repro));
      repro_.emplace(std::move(folder));
    }
    std::optional<MeasurementLock> lock;
    if (options_.runtime.repeats > 0) {
      PARITY_ASSIGN_OR_RETURN(
          MeasurementLock taken,
          MeasurementLock::Take(options_.interrupted, [this] {
            Progress("waiting for another measurement on this machine");
          }));
      lock.emplace(std::move(taken));
    }
    Progress("reading the model");
    // The graph borrows from this mapping.
    PARITY_ASSIGN_OR_RETURN(mapping_, FileMapping::Open(options_.model));
    if (const Status read = ReadModel(); !read) return Unreadable(read.error());
    PARITY_RETURN_IF_ERROR(CheckLimits(options_, contract_));
    PARITY_ASSIGN_OR_RETURN(plan_,
                            PlanReference(options_.reference, contract_));
    PARITY_RETURN_IF_ERROR(PlanInputs());
    PARITY_RETURN_IF_ERROR(LoadAndRunCases());
    result_.total_ms = time.milliseconds();
    return std::move(result_);
  }

 private:
  void Progress(std::string_view text) {
    const std::lock_guard lock(progress_);
    if (options_.progress) options_.progress(text);
  }

  Status ReadModel() {
    result_.model_path = options_.model.string();
    result_.model_bytes = static_cast<std::int64_t>(mapping_->bytes().size());
    PARITY_ASSIGN_OR_RETURN(
        model_, ReadOnnxModel(options_.model, {.load_external_data = true}));
    if (Status checked = CheckStructure(model_); !checked) {
      return std::unexpected(
          std::move(checked).error().In(options_.model.string()));
    }
    contract_ = ContractOf(model_);
    result_.opset = contract_.opset;
    return {};
  }

  // A model that cannot be read is a result, too: its cause is known.
  ValidationResult Unreadable(const Error& error) {
    result_.error = error;
    Finding finding;
    finding.cause = Cause::kLoad;
    finding.confidence = Confidence::kCertain;
    finding.message = error.message;
    result_.findings.push_back(std::move(finding));
    return std::move(result_);
  }

  Status PlanInputs() {
    if (plan_.kind == ReferenceKind::kRecorded) {
      PARITY_RETURN_IF_ERROR(CheckNoCases(options_.cases));
      PARITY_ASSIGN_OR_RETURN(
          recordings_, ReadRecordings(options_.reference.recorded, contract_));
      return {};
    }
    PARITY_ASSIGN_OR_RETURN(
        cases_, PlanCases(contract_, options_.cases, plan_.network));
    return {};
  }

  [[nodiscard]] bool interrupted() const {
    return options_.interrupted != nullptr && *options_.interrupted;
  }

  [[nodiscard]] std::size_t case_count() const {
    return plan_.kind == ReferenceKind::kRecorded ? recordings_.size()
                                                  : cases_.size();
  }

  Status LoadAndRunCases() {
    Progress("loading both sides");
    SidePair sides(options_, plan_, contract_, recordings_,
                   [this](std::string_view text) { Progress(text); });
    PARITY_RETURN_IF_ERROR(sides.Start());
    std::promise<const RunRequest*> made;
    auto loading = std::async(
        std::launch::async,
        [&, request = made.get_future().share()] { sides.Load(request); });
    result_.model_sha256 = Sha256Hex(mapping_->bytes());
    const Status inputs = MakeInputs(0);
    made.set_value(inputs ? &request_ : nullptr);
    loading.get();
    PARITY_RETURN_IF_ERROR(inputs);
    sides.Describe(result_);
    Explainer explainer(options_, model_, sides.MakeLaboratory());
    PARITY_ASSIGN_OR_RETURN(const bool started, Started(sides, explainer));
    if (!started) return {};
    PARITY_RETURN_IF_ERROR(RunCases(sides, explainer));
    sides.DescribeCache(result_);
    sides.Release();
    explainer.Explain(result_);
    if (repro_ && !interrupted()) explainer.WriteRepro(result_, *repro_);
    if (interrupted()) return Fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }

  // Whether both sides are loaded; the result says why not. Errors: those of
  // the reference, which say nothing about the model, and kInterrupted.
  Result<bool> Started(const SidePair& sides, Explainer& explainer) {
    const SideStart& reference = sides.reference_start();
    const SideStart& candidate = sides.candidate_start();
    for (const SideStart* const side : {&reference, &candidate}) {
      if (side->error && side->error->code == ErrorCode::kInterrupted)
        return std::unexpected(*side->error);
    }
    if (!reference.loaded) return std::unexpected(*reference.error);
    if (candidate.loaded) return true;
    result_.error = candidate.error;
    if (options_.explain != Explain::kNever)
      result_.findings.push_back(
          explainer.ExplainFailure(*candidate.error, &request_));
    return false;
  }

  Status RunCases(SidePair& sides, Explainer& explainer) {
    // PlanInputs() never leaves an empty plan.
    for (std::size_t i = 0; i < case_count(); ++i) {
      if (i > 0) PARITY_RETURN_IF_ERROR(MakeInputs(i));
      Result<CaseOutcome> outcome = RunOrCompare(sides, i, case_name(i));
      if (!outcome) {
        PARITY_ASSIGN_OR_RETURN(
            outcome, RefusedCase(sides, explainer, i, outcome.error()));
      }
      PARITY_RETURN_IF_ERROR(Record(*std::move(outcome), explainer));
      if (result_.error) return {};
      if (i == 0 && options_.cases.vary)
        PARITY_RETURN_IF_ERROR(RunVariations(sides, explainer));
    }
    return {};
  }

  CaseContext Context(SidePair& sides) {
    return {.reference = sides.reference(),
            .candidate = sides.candidate(),
            .contract = contract_,
            .tolerance = options_.tolerance,
            .output_atol = options_.output_atol,
            .output_rtol = options_.output_rtol,
            .floating_dtype = plan_.floating_dtype,
            .progress = [this](std::string_view text) { Progress(text); }};
  }

  Result<CaseOutcome> RunOrCompare(SidePair& sides, std::size_t index,
                                   const std::string& name) {
    const CaseContext context = Context(sides);
    if (index > 0) return RunCase(context, name, request_);
    const SideStart& reference = sides.reference_start();
    const SideStart& candidate = sides.candidate_start();
    if (reference.error) return std::unexpected(*reference.error);
    if (candidate.error)
      return FailedCase(name, reference.run, *candidate.error);
    return CompareRuns(context, name, request_,
                       {.expected = reference.run, .actual = candidate.run});
  }

  // A module that takes other inputs than the graph breaks the contract; one
  // that fails on them may expect another form. Errors: `error`, when it says
  // nothing about the model.
  Result<CaseOutcome> RefusedCase(const SidePair& sides, Explainer& explainer,
                                  std::size_t index, const Error& error) {
    CaseOutcome outcome;
    outcome.result.name = case_name(index);
    if (plan_.kind != ReferenceKind::kTorchScript ||
        options_.explain == Explain::kNever)
      return std::unexpected(error);
    if (error.code == ErrorCode::kIncompatible) {
      outcome.result.contract_failures.push_back(error.message);
      return outcome;
    }
    if (error.code != ErrorCode::kBackend) return std::unexpected(error);
    result_.error = error;
    result_.findings.push_back(explainer.ExplainRefusal(
        error, case_name(index), request_,
        index == 0 ? sides.candidate_start().run.outputs : NamedTensors{}));
    return outcome;
  }

  Status Record(CaseOutcome outcome, Explainer& explainer) {
    outcome.result.inputs = descriptions_;
    result_.reference.peak_rss_bytes =
        std::max(result_.reference.peak_rss_bytes, outcome.reference_rss_bytes);
    result_.candidate.peak_rss_bytes =
        std::max(result_.candidate.peak_rss_bytes, outcome.candidate_rss_bytes);
    for (const std::vector<std::string>* const notes :
         {&outcome.notes, &outcome.contract_notes}) {
      for (const std::string& note : *notes) {
        if (!std::ranges::contains(result_.notes, note))
          result_.notes.push_back(note);
      }
    }
    if (outcome.candidate_error) {
      Finding finding =
          explainer.ExplainRun(*outcome.candidate_error, outcome.result.name,
                               request_, !result_.cases.empty());
      // A graph that does not compute what its original does is wrong; a
      // runtime that refuses to compute anything tells nothing.
      if (!finding.fails) result_.error = outcome.candidate_error;
      result_.findings.push_back(std::move(finding));
    }
    explainer.Add(outcome, request_);
    result_.cases.push_back(std::move(outcome.result));
    return {};
  }

  // Further cases from the first one. What the reference itself refuses is no
  // case.
  Status RunVariations(SidePair& sides, Explainer& explainer) {
    const NamedTensors originals = request_.inputs;
    const auto owner = request_.shared_inputs;  // of their bytes
    std::size_t refused = 0;
    for (const CaseVariation& variation :
         PlanVariations(originals, contract_)) {
      PARITY_ASSIGN_OR_RETURN(const NamedTensors inputs,
                              MakeVariation(originals, variation));
      PARITY_ASSIGN_OR_RETURN(request_.shared_inputs, Share(inputs));
      request_.inputs = request_.shared_inputs->tensors();
      descriptions_ = DescribeInputs(request_.inputs, variation.name);
      Result<CaseOutcome> outcome =
          RunCase(Context(sides), variation.name, request_);
      if (!outcome) {
        if (outcome.error().code == ErrorCode::kInterrupted ||
            outcome.error().code == ErrorCode::kWorkerDied)
          return std::unexpected(std::move(outcome).error());
        ++refused;
        continue;
      }
      PARITY_RETURN_IF_ERROR(Record(*std::move(outcome), explainer));
      if (result_.error) return {};
    }
    if (refused > 0)
      result_.notes.push_back(std::format(
          "{} variations of the inputs were left out: the reference does not "
          "take them",
          refused));
    return {};
  }

  // The request of a case, its inputs in shared memory that is made once for
  // both sides.
  Status MakeInputs(std::size_t index) {
    PARITY_ASSIGN_OR_RETURN(CaseInputs inputs, InputsOf(index));
    PARITY_ASSIGN_OR_RETURN(request_.shared_inputs, Share(inputs.tensors));
    request_.inputs = request_.shared_inputs->tensors();
    descriptions_ = std::move(inputs.descriptions);
    return {};
  }

  Result<CaseInputs> InputsOf(std::size_t index) const {
    if (plan_.kind == ReferenceKind::kRecorded) {
      const Recording& recording = recordings_[index];
      return CaseInputs{.tensors = recording.inputs,
                        .descriptions = DescribeInputs(
                            recording.inputs,
                            options_.reference.recorded.filename().string())};
    }
    return MakeCaseInputs(cases_[index], contract_);
  }

  [[nodiscard]] std::string case_name(std::size_t index) const {
    return plan_.kind == ReferenceKind::kRecorded ? recordings_[index].name
                                                  : cases_[index].name;
  }

  const ValidationOptions& options_;
  std::optional<ReproFolder> repro_;  // where --repro wants it
  std::shared_ptr<const FileMapping> mapping_;
  Model model_;
  Contract contract_;
  ReferencePlan plan_;
  std::vector<PlannedCase> cases_;
  std::vector<Recording> recordings_;
  RunRequest request_;  // of the case at hand
  std::vector<InputDescription> descriptions_;
  std::mutex progress_;
  ValidationResult result_;
};

}  // namespace

Result<ValidationResult> Validate(const ValidationOptions& options) {
  return Validator(options).Run();
}

}  // namespace parity
