#include "validate/cached_reference.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <filesystem>
#include <format>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/sha256.h"
#include "base/status_macros.h"
#include "cache/cache_lock.h"
#include "cache/content_cache.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/reference_entry.h"
#include "validate/reference_identity.h"
#include "validate/reference_source.h"
#include "validate/runtime_worker.h"
#include "worker/worker_client.h"
#include "worker/worker_path.h"

namespace parity {
namespace {

// Raised when entries change their meaning.
constexpr std::string_view kLoadKind = "onnx-parity reference, loaded, 1";
constexpr std::string_view kRunKind = "onnx-parity reference, run, 1";

// With its length, so that no two lists of texts give the same hash.
void Add(std::string_view text, Sha256& sha) {
  sha.Update(std::format("{}:", text.size()));
  sha.Update(text);
}

void Add(const std::vector<std::string>& texts, Sha256& sha) {
  sha.Update(std::format("{};", texts.size()));
  for (const std::string& text : texts) Add(text, sha);
}

void Add(const ReferenceIdentity& identity, Sha256& sha) {
  sha.Update(std::format("{};", identity.facts.size()));
  for (const auto& [name, text] : identity.facts) {
    Add(name, sha);
    Add(text, sha);
  }
}

// Of what a loaded reference says of itself, but for how long it took.
std::string DigestOf(const LoadResult& loaded) {
  Sha256 sha;
  Add(loaded.version, sha);
  Add(loaded.kernels, sha);
  Add(loaded.input_names, sha);
  Add(loaded.output_names, sha);
  Add(loaded.notes, sha);
  return sha.Finish();
}

}  // namespace

std::string CachedReference::LoadKey() const {
  Sha256 sha;
  Add(kLoadKind, sha);
  Add(*identity_, sha);
  return sha.Finish();
}

std::string CachedReference::RunKey(const RunRequest& request) const {
  Sha256 sha;
  Add(kRunKind, sha);
  Add(*identity_, sha);
  Add(DigestOf(loaded_.loaded), sha);
  for (const NamedTensor& input : request.inputs) {
    Add(input.name, sha);
    Add(Name(input.tensor.dtype()), sha);
    Add(ToString(input.tensor.shape()), sha);
    sha.Update(std::format("{}:", input.tensor.bytes().size()));
    sha.Update(input.tensor.bytes());
  }
  return sha.Finish();
}

template <class Entry>
std::optional<Entry> CachedReference::Find(const std::string& key,
                                           Decode<Entry> decode) {
  Result<std::optional<CachedPayload>> payload = cache_.Get(key);
  if (!payload) {
    notes_.push_back(std::move(payload).error().message);
    return std::nullopt;
  }
  if (!*payload) return std::nullopt;
  Result<Entry> entry = decode((*payload)->bytes, (*payload)->owner);
  if (!entry) {
    cache_.Remove(key);
    notes_.push_back(std::format("an entry of the cache {} makes no sense: {}",
                                 cache_.folder().string(),
                                 entry.error().message));
    return std::nullopt;
  }
  // Other libraries may compute otherwise; what they give will replace it.
  if (!AreUnchanged(entry->libraries)) return std::nullopt;
  return *std::move(entry);
}

template <class Entry>
Result<std::optional<Entry>> CachedReference::Await(
    const std::string& key, Decode<Entry> decode,
    std::optional<CacheLock>& lock) {
  if (std::optional<Entry> kept = Find(key, decode)) return kept;
  Result<CacheLock> locked = cache_.Lock(key, options_.interrupted);
  if (locked) {
    lock.emplace(*std::move(locked));
    // Whoever had it has computed what we want.
    return Find(key, decode);
  }
  if (locked.error().code == ErrorCode::kInterrupted)
    return std::unexpected(std::move(locked).error());
  return std::nullopt;  // computed twice at worst
}

template <class Entry>
void CachedReference::Keep(const std::string& key, Entry entry) {
  // The facts may be those of another file than the one that was loaded.
  if (!AreUnchanged(identity_->sources)) return;
  const auto keep = [&]() -> Status {
    PARITY_ASSIGN_OR_RETURN(entry.libraries, options_.libraries());
    PARITY_ASSIGN_OR_RETURN(const std::vector<std::byte> payload,
                            Encode(entry));
    return cache_.Put(key, {payload});
  };
  if (const Status kept = keep(); !kept) NoteUnkept(kept.error().message);
}

void CachedReference::NoteUnkept(std::string_view reason) {
  std::string note = std::format(
      "could not keep the reference's results in "
      "{}: {}",
      cache_.folder().string(), reason);
  if (!std::ranges::contains(notes_, note)) notes_.push_back(std::move(note));
}

Result<LoadResult> CachedReference::Load(const LoadRequest& /*request*/) {
  // Where it fails, loading will, too, and says more.
  if (Result<ReferenceIdentity> identity = options_.identify(); identity)
    identity_ = *std::move(identity);
  std::optional<CacheLock> lock;
  if (identity_) {
    PARITY_ASSIGN_OR_RETURN(std::optional<LoadEntry> kept,
                            Await(LoadKey(), DecodeLoadEntry, lock));
    if (kept) {
      loaded_ = *std::move(kept);
      return loaded_.loaded;
    }
  }
  PARITY_RETURN_IF_ERROR(Start());
  return loaded_.loaded;
}

Status CachedReference::Start() {
  if (worker_ != nullptr) return {};
  PARITY_ASSIGN_OR_RETURN(std::unique_ptr<Backend> worker, options_.make());
  PARITY_ASSIGN_OR_RETURN(ReferenceSource source, options_.prepare());
  PARITY_ASSIGN_OR_RETURN(LoadResult loaded, worker->Load(source.request));
  worker_ = std::move(worker);
  const std::string& before = loaded_.loaded.kernels;
  if (!before.empty() && before != loaded.kernels) {
    notes_.push_back(
        std::format("some results of the reference were computed by {}, others "
                    "by {}",
                    before, loaded.kernels));
  }
  loaded_ = {.loaded = std::move(loaded),
             .weights_sha256 = std::move(source.weights_sha256),
             .notes = std::move(source.notes),
             .libraries = {}};
  if (identity_) Keep(LoadKey(), loaded_);
  return {};
}

Result<RunResult> CachedReference::Compute(const RunRequest& request) {
  if (Status started = Start(); !started) {
    Error error = std::move(started).error();
    // It loaded before, so this says nothing about the model or the inputs.
    if (error.code != ErrorCode::kInterrupted)
      error.code = ErrorCode::kWorkerDied;
    return std::unexpected(std::move(error));
  }
  return worker_->Run(request);
}

Result<RunResult> CachedReference::Run(const RunRequest& request) {
  if (!identity_ || request.trace || !request.output_names.empty())
    return Compute(request);
  std::string key = RunKey(request);
  std::optional<CacheLock> lock;
  PARITY_ASSIGN_OR_RETURN(std::optional<RunEntry> kept,
                          Await(key, DecodeRunEntry, lock));
  if (kept) return std::move(kept->run);
  const std::string before = DigestOf(loaded_.loaded);
  PARITY_ASSIGN_OR_RETURN(RunResult run, Compute(request));
  // A worker may say something else of itself than the one whose words we had.
  if (DigestOf(loaded_.loaded) != before) key = RunKey(request);
  Keep(key, RunEntry{.run = run});
  return run;
}

std::vector<std::string> CachedReference::TakeNotes() {
  std::vector<std::string> notes = std::exchange(notes_, {});
  std::ranges::move(cache_.TakeNotes(), std::back_inserter(notes));
  return notes;
}

Result<std::unique_ptr<CachedReference>> OpenCachedReference(
    const ReferencePlan& plan, const ValidationOptions& options,
    std::function<Result<ReferenceSource>()> prepare) {
  PARITY_ASSIGN_OR_RETURN(
      ContentCache cache,
      ContentCache::Open(options.reference.cache / "references",
                         options.reference.cache_bytes));
  // Shared by the two functions that need it.
  const auto worker = std::make_shared<WorkerClient*>(nullptr);
  CachedReferenceOptions functions;
  functions.identify = [&plan, &options]() -> Result<ReferenceIdentity> {
    PARITY_ASSIGN_OR_RETURN(std::filesystem::path program,
                            FindWorker(kTorchWorker));
    return IdentifyReference(
        {.request = RequestWithoutWeights(plan, options),
         .program = std::move(program),
         .checkpoint = options.reference.checkpoint,
         .synthetic_seed = plan.synthetic_seed,
         .allow_missing_keys = options.reference.allow_missing_keys});
  };
  functions.make = [&options, worker]() -> Result<std::unique_ptr<Backend>> {
    PARITY_ASSIGN_OR_RETURN(std::unique_ptr<WorkerClient> made,
                            MakeWorker("reference", kTorchWorker,
                                       options.limits, options.interrupted));
    // It comes up while the weights are read.
    PARITY_RETURN_IF_ERROR(made->Start());
    *worker = made.get();
    return made;
  };
  functions.prepare = std::move(prepare);
  functions.libraries = [worker] { return LibrariesOf((*worker)->pid()); };
  functions.interrupted = options.interrupted;
  return std::make_unique<CachedReference>(std::move(cache),
                                           std::move(functions));
}

}  // namespace parity
