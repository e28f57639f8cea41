#include "validate/side_pair.h"

#include <algorithm>
#include <format>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/scratch_folder.h"
#include "base/status_macros.h"
#include "diagnose/laboratory.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/cached_reference.h"
#include "validate/recorded_backend.h"
#include "validate/reference_source.h"
#include "validate/runtime_worker.h"
#include "worker/worker_client.h"

namespace parity {

Status SidePair::Start() {
  if (plan_.kind != ReferenceKind::kRecorded &&
      !options_.reference.cache.empty()) {
    // First of all: a folder that cannot be used costs no time.
    PARITY_ASSIGN_OR_RETURN(
        std::unique_ptr<CachedReference> cached,
        OpenCachedReference(plan_, options_, [this] { return Prepare(); }));
    cached_reference_ = cached.get();
    reference_ = std::move(cached);
  }
  PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> candidate,
                          MakeWorker("candidate", kRuntimeWorker,
                                     options_.limits, options_.interrupted));
  PARITY_RETURN_IF_ERROR(candidate->Start());
  candidate_ = std::move(candidate);
  if (reference_ != nullptr) return {};
  if (plan_.kind == ReferenceKind::kRecorded) {
    reference_ = std::make_unique<RecordedBackend>(recordings_);
    return {};
  }
  PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> reference,
                          MakeWorker("reference", kTorchWorker, options_.limits,
                                     options_.interrupted));
  PARITY_RETURN_IF_ERROR(reference->Start());
  reference_ = std::move(reference);
  return {};
}

void SidePair::Load(const std::shared_future<const RunRequest*>& request) {
  if (options_.runtime.repeats > 0) {
    LoadInTurn(request);
    return;
  }
  auto candidate = std::async(std::launch::async, [&] {
    return LoadAndRun(*candidate_, [this] { return LoadCandidate(); }, request);
  });
  auto reference = std::async(std::launch::async, [&] {
    return LoadAndRun(*reference_, [this] { return LoadReference(); }, request);
  });
  reference_start_ = reference.get();
  candidate_start_ = candidate.get();
}

void SidePair::LoadInTurn(
    const std::shared_future<const RunRequest*>& request) {
  request.wait();  // making inputs is work, too
  reference_start_ =
      LoadAndRun(*reference_, [this] { return LoadReference(); }, request);
  if (!reference_start_.loaded) return;
  candidate_start_ =
      LoadAndRun(*candidate_, [this] { return LoadCandidate(); }, request);
}

SideStart SidePair::LoadAndRun(
    Backend& side, const std::function<Status()>& load,
    const std::shared_future<const RunRequest*>& request) {
  SideStart start;
  if (Status loaded = load(); !loaded) {
    failed_ = true;
    start.error = std::move(loaded).error();
    return start;
  }
  start.loaded = true;
  const RunRequest* const inputs = request.get();
  const std::lock_guard lock(running_);
  if (inputs == nullptr || failed_) return start;
  progress_(std::format("running the {}", side.name()));
  RunRequest first = *inputs;
  if (&side == candidate_.get()) first.repeats = options_.runtime.repeats;
  Result<RunResult> run = side.Run(first);
  if (run) {
    start.run = *std::move(run);
  } else {
    start.error = std::move(run).error();
  }
  return start;
}

Status SidePair::LoadCandidate() {
  LoadRequest request = RuntimeRequest(options_.model, options_.runtime);
  if (request.measured) {
    // Without a folder for it the nodes are not counted, no more.
    if (auto folder = ScratchFolder::CreateTemporary()) {
      scratch_.emplace(*std::move(folder));
      request.scratch_folder = scratch_->path().string();
    }
  }
  PARITY_ASSIGN_OR_RETURN(LoadResult loaded, candidate_->Load(request));
  candidate_description_ = {
      .version = loaded.version,
      .model = options_.model.filename().string(),
      .kernels = std::format("{}, optimization {}", loaded.kernels,
                             options_.runtime.optimization),
      .load_ms = loaded.load_ms,
      .peak_rss_bytes = 0};
  candidate_notes_ = std::move(loaded.notes);
  return {};
}

Status SidePair::LoadReference() {
  if (plan_.kind == ReferenceKind::kRecorded) {
    reference_description_ = {.version = "recording",
                              .model = options_.reference.recorded.string(),
                              .kernels = "",
                              .load_ms = 0,
                              .peak_rss_bytes = 0};
    return {};
  }
  LoadResult loaded;
  if (cached_reference_ != nullptr) {
    PARITY_ASSIGN_OR_RETURN(loaded, cached_reference_->Load({}));
    weights_sha256_ = cached_reference_->weights_sha256();
    reference_notes_ = cached_reference_->weights_notes();
  } else {
    PARITY_ASSIGN_OR_RETURN(ReferenceSource source, Prepare());
    PARITY_ASSIGN_OR_RETURN(loaded, reference_->Load(source.request));
    weights_sha256_ = std::move(source.weights_sha256);
    reference_notes_ = std::move(source.notes);
  }
  reference_description_ = {
      .version = loaded.version,
      .model = DescribeReference(plan_, options_.reference),
      .kernels = loaded.kernels,
      .load_ms = loaded.load_ms,
      .peak_rss_bytes = 0};
  for (const std::vector<std::string>& notes :
       {ContradictionNotes(plan_, contract_, weights_sha256_), loaded.notes})
    reference_notes_.insert(reference_notes_.end(), notes.begin(), notes.end());
  return {};
}

Result<ReferenceSource> SidePair::Prepare() {
  PARITY_ASSIGN_OR_RETURN(ReferenceSource source,
                          PrepareReference(plan_, options_));
  reference_request_ = source.request;
  return source;
}

void SidePair::Describe(ValidationResult& result) const {
  result.reference = reference_description_;
  result.candidate = candidate_description_;
  const auto& nodes = candidate_start_.run.provider_nodes;
  result.candidate.provider_nodes = nodes;
  if (!nodes.empty() && !nodes.contains(options_.runtime.provider))
    result.notes.push_back(std::format("{} ran none of the model's nodes",
                                       options_.runtime.provider));
  result.weights_sha256 = weights_sha256_;
  for (const std::vector<std::string>* notes :
       {&reference_notes_, &candidate_notes_})
    result.notes.insert(result.notes.end(), notes->begin(), notes->end());
  DescribeCache(result);
}

void SidePair::DescribeCache(ValidationResult& result) const {
  if (cached_reference_ == nullptr) return;
  result.reference.cached = cached_reference_->cached();
  for (std::string& note : cached_reference_->TakeNotes()) {
    if (!std::ranges::contains(result.notes, note))
      result.notes.push_back(std::move(note));
  }
}

LaboratoryOptions SidePair::MakeLaboratory() {
  LaboratoryOptions laboratory;
  laboratory.make = [this](SideKind kind) -> Result<std::unique_ptr<Backend>> {
    PARITY_ASSIGN_OR_RETURN(
        std::unique_ptr<WorkerClient> worker,
        MakeWorker("diagnosis",
                   kind == SideKind::kTorch ? kTorchWorker : kRuntimeWorker,
                   options_.limits, options_.interrupted));
    return worker;
  };
  if (plan_.kind != ReferenceKind::kRecorded) {
    // The weights were not read when all results came from the cache.
    laboratory.reference = [this]() -> Result<LoadRequest> {
      if (!reference_request_) PARITY_RETURN_IF_ERROR(Prepare());
      return *reference_request_;
    };
    laboratory.reference_kind = plan_.kind == ReferenceKind::kTorchScript
                                    ? ModelKind::kTorchScript
                                    : ModelKind::kNetwork;
  }
  laboratory.candidate = RuntimeRequest(options_.model, options_.runtime);
  laboratory.progress = progress_;
  return laboratory;
}

}  // namespace parity
