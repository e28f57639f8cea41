// The life of one validation: plan, load both sides in parallel, run every case, add it up.
#include "parity/validation.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
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
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One validation in progress.
class Validator {
 public:
  explicit Validator(const ValidationOptions& options) : options_(options) {}

  Result<ValidationResult> Run() {
    const Clock::time_point start = Clock::now();
    PARITY_RETURN_IF_ERROR(ReadModel());
    PARITY_ASSIGN_OR_RETURN(plan_, PlanReference(options_.reference, contract_));
    PARITY_RETURN_IF_ERROR(PlanInputs());
    PARITY_RETURN_IF_ERROR(LoadBothSides());
    for (std::size_t i = 0; i < case_count(); ++i) PARITY_RETURN_IF_ERROR(RunOne(i));
    result_.total_ms = MillisecondsSince(start);
    return std::move(result_);
  }

 private:
  void Progress(std::string_view text) const {
    if (options_.progress) options_.progress(text);
  }

  Status ReadModel() {
    Progress("reading the model");
    // The index borrows from this mapping, which is only needed for the contract and the digest.
    PARITY_ASSIGN_OR_RETURN(mapping_, FileMapping::Open(options_.model));
    PARITY_ASSIGN_OR_RETURN(const Model model, ReadOnnxModel(options_.model, {.load_external_data = true}));
    if (Status checked = CheckStructure(model); !checked) {
      return std::unexpected(std::move(checked).error().In(options_.model.string()));
    }
    contract_ = ContractOf(model);
    result_.model_path = options_.model.string();
    result_.model_bytes = static_cast<std::int64_t>(mapping_->bytes().size());
    result_.opset = contract_.opset;
    return {};
  }

  Status PlanInputs() {
    if (plan_.kind == ReferenceKind::kRecorded) {
      PARITY_ASSIGN_OR_RETURN(recordings_, ReadRecordings(options_.reference.recorded, contract_));
      return {};
    }
    PARITY_ASSIGN_OR_RETURN(cases_, PlanCases(contract_, options_.cases, plan_.network));
    return {};
  }

  [[nodiscard]] std::size_t case_count() const {
    return plan_.kind == ReferenceKind::kRecorded ? recordings_.size() : cases_.size();
  }

  Status LoadBothSides() {
    Progress("loading both sides");
    PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> candidate, MakeWorker("candidate", kRuntimeWorker, options_.limits, options_.interrupted));
    PARITY_RETURN_IF_ERROR(candidate->Start());
    std::unique_ptr<WorkerClient> reference_worker;
    if (plan_.kind == ReferenceKind::kRecorded) {
      reference_ = std::make_unique<RecordedBackend>(recordings_);
    } else {
      PARITY_ASSIGN_OR_RETURN(reference_worker, MakeWorker("reference", kTorchWorker, options_.limits, options_.interrupted));
      PARITY_RETURN_IF_ERROR(reference_worker->Start());
    }
    auto candidate_loading = std::async(std::launch::async, [&] { return candidate->Load(RuntimeRequest(options_.model, options_.runtime)); });
    auto reference_loading = std::async(std::launch::async, [&] { return LoadReference(reference_worker.get()); });
    result_.model_sha256 = Sha256Hex(mapping_->bytes());
    mapping_.reset();
    auto first = case_count() > 0 ? MakeInputs(0) : Result<CaseInputs>(CaseInputs{});
    Status reference = reference_loading.get();
    Result<LoadResult> loaded = candidate_loading.get();
    PARITY_RETURN_IF_ERROR(reference);
    if (!loaded) return std::unexpected(std::move(loaded).error());
    if (!first) return std::unexpected(std::move(first).error());
    first_inputs_ = *std::move(first);
    result_.candidate = {.version = loaded->version,
                         .model = options_.model.filename().string(),
                         .kernels = std::format("{}, optimization {}", loaded->kernels, options_.runtime.optimization),
                         .load_ms = loaded->load_ms,
                         .peak_rss_bytes = 0};
    result_.notes.insert(result_.notes.end(), loaded->notes.begin(), loaded->notes.end());
    candidate_ = std::move(candidate);
    if (reference_worker) reference_ = std::move(reference_worker);
    return {};
  }

  // Runs on a thread of its own; touches only the reference's part of the result.
  Status LoadReference(WorkerClient* worker) {
    if (worker == nullptr) {
      result_.reference = {.version = "recording", .model = options_.reference.recorded.string(), .kernels = "", .load_ms = 0, .peak_rss_bytes = 0};
      return {};
    }
    PARITY_ASSIGN_OR_RETURN(ReferenceSource source, PrepareReference(plan_, options_, contract_));
    PARITY_ASSIGN_OR_RETURN(const LoadResult loaded, worker->Load(source.request));
    result_.reference = {.version = loaded.version,
                         .model = source.description,
                         .kernels = loaded.kernels,
                         .load_ms = loaded.load_ms,
                         .peak_rss_bytes = 0};
    result_.weights_sha256 = source.weights_sha256;
    result_.notes = std::move(source.notes);
    result_.notes.insert(result_.notes.end(), loaded.notes.begin(), loaded.notes.end());
    return {};
  }

  // The inputs of a case in shared memory, made once for both sides.
  Result<CaseInputs> MakeInputs(std::size_t index) {
    PARITY_ASSIGN_OR_RETURN(CaseInputs inputs, InputsOf(index));
    PARITY_ASSIGN_OR_RETURN(inputs.shared, Share(inputs.tensors));
    inputs.tensors = inputs.shared->tensors();
    return inputs;
  }

  Result<CaseInputs> InputsOf(std::size_t index) const {
    if (plan_.kind == ReferenceKind::kRecorded) {
      const Recording& recording = recordings_[index];
      return CaseInputs{.tensors = recording.inputs,
                        .shared = nullptr,
                        .descriptions = DescribeInputs(recording.inputs, options_.reference.recorded.filename().string())};
    }
    return MakeCaseInputs(cases_[index], contract_);
  }

  Status RunOne(std::size_t index) {
    if (index > 0) {
      PARITY_ASSIGN_OR_RETURN(first_inputs_, MakeInputs(index));
    }
    CaseInputs inputs = std::move(first_inputs_);
    const std::string name = plan_.kind == ReferenceKind::kRecorded ? recordings_[index].name : cases_[index].name;
    const CaseContext context{.reference = *reference_,
                              .candidate = *candidate_,
                              .contract = contract_,
                              .tolerance = options_.tolerance,
                              .output_atol = options_.output_atol,
                              .output_rtol = options_.output_rtol,
                              .floating_dtype = plan_.floating_dtype,
                              .progress = [this](std::string_view text) { Progress(text); }};
    const RunRequest request{.inputs = std::move(inputs.tensors), .shared_inputs = std::move(inputs.shared), .output_names = {}};
    PARITY_ASSIGN_OR_RETURN(CaseOutcome outcome, RunCase(context, name, request));
    outcome.result.inputs = std::move(inputs.descriptions);
    result_.reference.peak_rss_bytes = std::max(result_.reference.peak_rss_bytes, outcome.reference_rss_bytes);
    result_.candidate.peak_rss_bytes = std::max(result_.candidate.peak_rss_bytes, outcome.candidate_rss_bytes);
    for (std::string& note : outcome.notes) {
      if (!std::ranges::contains(result_.notes, note)) result_.notes.push_back(std::move(note));
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
  CaseInputs first_inputs_;
  ValidationResult result_;
};

}  // namespace

Result<ValidationResult> Validate(const ValidationOptions& options) { return Validator(options).Run(); }

}  // namespace parity
