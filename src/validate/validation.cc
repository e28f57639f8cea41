// The life of one validation: plan, load both sides in parallel, run every
// case, add it up.
#include "parity/validation.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "base/file_mapping.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/case_inputs.h"
#include "validate/case_plan.h"
#include "validate/case_runner.h"
#include "validate/contract.h"
#include "validate/recorded_backend.h"
#include "validate/reference_source.h"
#include "validate/runtime_worker.h"
#include "worker/worker_client.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// A limit for an output that does not exist would silently leave the intended
// one at its default.
Status CheckLimits(const std::map<std::string, double>& limits,
                   std::string_view flag, const Contract& contract) {
  for (const auto& [name, limit] : limits) {
    if (std::ranges::contains(contract.outputs, name, &ValueInfo::name))
      continue;
    std::string known;
    for (const ValueInfo& output : contract.outputs)
      known += (known.empty() ? "" : ", ") + output.name;
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} {}: the model has no such output; it has {}",
                            flag, name, known));
  }
  return {};
}

// Recordings bring their inputs; other wishes would silently be ignored.
Status CheckNoCases(const CaseOptions& cases) {
  const bool none = cases.only.empty() && cases.shapes.empty() &&
                    cases.dimensions.empty() && cases.generator.empty() &&
                    cases.images.empty() && cases.inputs.empty();
  if (none) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--recorded brings its own inputs: --case, --shape, --dim, "
              "--generator, --inputs and --image have no meaning with it");
}

// One validation in progress.
class Validator {
 public:
  explicit Validator(const ValidationOptions& options) : options_(options) {}

  Result<ValidationResult> Run() {
    const Clock::time_point start = Clock::now();
    PARITY_RETURN_IF_ERROR(ReadModel());
    PARITY_RETURN_IF_ERROR(
        CheckLimits(options_.output_atol, "--atol", contract_));
    PARITY_RETURN_IF_ERROR(
        CheckLimits(options_.output_rtol, "--rtol", contract_));
    PARITY_ASSIGN_OR_RETURN(plan_,
                            PlanReference(options_.reference, contract_));
    PARITY_RETURN_IF_ERROR(PlanInputs());
    PARITY_RETURN_IF_ERROR(LoadAndRunFirstCase());
    // PlanInputs() never leaves an empty plan.
    for (std::size_t i = 0; i < case_count(); ++i)
      PARITY_RETURN_IF_ERROR(RunOne(i));
    result_.total_ms = MillisecondsSince(start);
    return std::move(result_);
  }

 private:
  void Progress(std::string_view text) {
    const std::lock_guard lock(progress_);
    if (options_.progress) options_.progress(text);
  }

  Status ReadModel() {
    Progress("reading the model");
    // The index borrows from this mapping, which is only needed for the
    // contract and the digest.
    PARITY_ASSIGN_OR_RETURN(mapping_, FileMapping::Open(options_.model));
    PARITY_ASSIGN_OR_RETURN(
        const Model model,
        ReadOnnxModel(options_.model, {.load_external_data = true}));
    if (Status checked = CheckStructure(model); !checked) {
      return std::unexpected(
          std::move(checked).error().In(options_.model.string()));
    }
    contract_ = ContractOf(model);
    result_.model_path = options_.model.string();
    result_.model_bytes = static_cast<std::int64_t>(mapping_->bytes().size());
    result_.opset = contract_.opset;
    return {};
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

  [[nodiscard]] std::size_t case_count() const {
    return plan_.kind == ReferenceKind::kRecorded ? recordings_.size()
                                                  : cases_.size();
  }

  // Starts both workers; each side loads in parallel with the other and runs
  // the first case as soon as it can, so that the quicker one computes while
  // the slower one still loads. Runs themselves never overlap: both want every
  // core.
  Status LoadAndRunFirstCase() {
    Progress("loading both sides");
    PARITY_RETURN_IF_ERROR(MakeSides());
    std::promise<bool> made;
    const std::shared_future<bool> inputs_made = made.get_future().share();
    auto candidate = std::async(std::launch::async, [&] {
      return LoadAndRun(
          *candidate_, [this] { return LoadCandidate(); }, inputs_made);
    });
    auto reference = std::async(std::launch::async, [&] {
      return LoadAndRun(
          *reference_, [this] { return LoadReference(); }, inputs_made);
    });
    result_.model_sha256 = Sha256Hex(mapping_->bytes());
    mapping_.reset();
    const Status inputs = MakeInputs(0);
    made.set_value(inputs.has_value());
    Result<RunResult> expected = reference.get();
    Result<RunResult> actual = candidate.get();
    PARITY_RETURN_IF_ERROR(inputs);
    // Of two failures the first is told; the other side then only says that it
    // was not run.
    if (!expected &&
        !(expected.error().code == ErrorCode::kInterrupted && !actual))
      return std::unexpected(std::move(expected).error());
    if (!actual) return std::unexpected(std::move(actual).error());
    first_runs_ = {.expected = *std::move(expected),
                   .actual = *std::move(actual)};
    for (std::vector<std::string>* notes :
         {&reference_notes_, &candidate_notes_}) {
      std::ranges::move(*notes, std::back_inserter(result_.notes));
    }
    return {};
  }

  Status MakeSides() {
    PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> candidate,
                            MakeWorker("candidate", kRuntimeWorker,
                                       options_.limits, options_.interrupted));
    PARITY_RETURN_IF_ERROR(candidate->Start());
    candidate_ = std::move(candidate);
    if (plan_.kind == ReferenceKind::kRecorded) {
      reference_ = std::make_unique<RecordedBackend>(recordings_);
      return {};
    }
    PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> reference,
                            MakeWorker("reference", kTorchWorker,
                                       options_.limits, options_.interrupted));
    PARITY_RETURN_IF_ERROR(reference->Start());
    reference_ = std::move(reference);
    return {};
  }

  // On a thread of its own. A side does not run when the other has already
  // failed.
  Result<RunResult> LoadAndRun(Backend& side,
                               const std::function<Status()>& load,
                               const std::shared_future<bool>& inputs_made) {
    if (Status loaded = load(); !loaded) {
      failed_ = true;
      return std::unexpected(std::move(loaded).error());
    }
    const bool inputs = inputs_made.get();
    const std::lock_guard lock(running_);
    if (!inputs || failed_)
      return Fail(ErrorCode::kInterrupted,
                  "not run, since the other side failed");
    Progress(std::format("{}: running the {}", case_name(0), side.name()));
    Result<RunResult> run = side.Run(request_);
    if (!run) failed_ = true;
    return run;
  }

  Status LoadCandidate() {
    PARITY_ASSIGN_OR_RETURN(
        LoadResult loaded,
        candidate_->Load(RuntimeRequest(options_.model, options_.runtime)));
    result_.candidate = {
        .version = loaded.version,
        .model = options_.model.filename().string(),
        .kernels = std::format("{}, optimization {}", loaded.kernels,
                               options_.runtime.optimization),
        .load_ms = loaded.load_ms,
        .peak_rss_bytes = 0};
    candidate_notes_ = std::move(loaded.notes);
    return {};
  }

  Status LoadReference() {
    if (plan_.kind == ReferenceKind::kRecorded) {
      result_.reference = {.version = "recording",
                           .model = options_.reference.recorded.string(),
                           .kernels = "",
                           .load_ms = 0,
                           .peak_rss_bytes = 0};
      return {};
    }
    PARITY_ASSIGN_OR_RETURN(ReferenceSource source,
                            PrepareReference(plan_, options_, contract_));
    PARITY_ASSIGN_OR_RETURN(const LoadResult loaded,
                            reference_->Load(source.request));
    result_.reference = {.version = loaded.version,
                         .model = source.description,
                         .kernels = loaded.kernels,
                         .load_ms = loaded.load_ms,
                         .peak_rss_bytes = 0};
    result_.weights_sha256 = source.weights_sha256;
    reference_notes_ = std::move(source.notes);
    reference_notes_.insert(reference_notes_.end(), loaded.notes.begin(),
                            loaded.notes.end());
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

  Result<CaseOutcome> RunOrCompare(std::size_t index) {
    const CaseContext context{
        .reference = *reference_,
        .candidate = *candidate_,
        .contract = contract_,
        .tolerance = options_.tolerance,
        .output_atol = options_.output_atol,
        .output_rtol = options_.output_rtol,
        .floating_dtype = plan_.floating_dtype,
        .progress = [this](std::string_view text) { Progress(text); }};
    if (index == 0)
      return CompareRuns(context, case_name(0), request_,
                         std::exchange(first_runs_, {}));
    PARITY_RETURN_IF_ERROR(MakeInputs(index));
    return RunCase(context, case_name(index), request_);
  }

  Status RunOne(std::size_t index) {
    PARITY_ASSIGN_OR_RETURN(CaseOutcome outcome, RunOrCompare(index));
    outcome.result.inputs = std::move(descriptions_);
    result_.reference.peak_rss_bytes =
        std::max(result_.reference.peak_rss_bytes, outcome.reference_rss_bytes);
    result_.candidate.peak_rss_bytes =
        std::max(result_.candidate.peak_rss_bytes, outcome.candidate_rss_bytes);
    for (std::string& note : outcome.notes) {
      if (!std::ranges::contains(result_.notes, note))
        result_.notes.push_back(std::move(note));
    }
    result_.cases.push_back(std::move(outcome.result));
    return {};
  }

  const ValidationOptions& options_;
  std::shared_ptr<const FileMapping> mapping_;
  Contract contract_;
  ReferencePlan plan_;
  std::vector<PlannedCase> cases_;
  std::vector<Recording> recordings_;
  std::unique_ptr<Backend> reference_;
  std::unique_ptr<Backend> candidate_;
  std::vector<std::string> reference_notes_;
  std::vector<std::string> candidate_notes_;
  RunRequest request_;  // of the case at hand
  std::vector<InputDescription> descriptions_;
  SideRuns first_runs_;
  std::mutex progress_;
  std::mutex running_;
  std::atomic<bool> failed_{false};
  ValidationResult result_;
};

}  // namespace

Result<ValidationResult> Validate(const ValidationOptions& options) {
  return Validator(options).Run();
}

}  // namespace parity
