// A reference whose results are kept: libtorch is started, and weights are
// read, only for what was never computed before.
//
// Two kinds of entries. One for a reference as it is loaded: its key is
// everything its results depend on but the inputs
// (validate/reference_identity.h). One for a run: its key adds the inputs, and
// what the loaded reference said of itself. That a probe may choose the kernels
// of one process otherwise than those of another therefore gives two results,
// never one under the other's name.
//
// Whether the libraries of the reference are still those that computed can only
// be told from a list of them, which only a running worker has: every entry
// holds the list (path, size, time), and is worth nothing as soon as one of
// these files is another one. Two installations that agree in all else replace
// each other's entries and never use them.
//
// Not kept: errors; runs that are traced or asked for some of the outputs only,
// which go to the worker as they are. What cannot be written is a note, not an
// error: the result is there.
#ifndef PARITY_VALIDATE_CACHED_REFERENCE_H_
#define PARITY_VALIDATE_CACHED_REFERENCE_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "cache/cache_lock.h"
#include "cache/content_cache.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/reference_entry.h"
#include "validate/reference_identity.h"
#include "validate/reference_source.h"

namespace parity {

struct CachedReferenceOptions {
  // Each is called when it is needed, and at most once, but for `libraries`.
  std::function<Result<ReferenceIdentity>()> identify;
  // A side that nothing is loaded in.
  std::function<Result<std::unique_ptr<Backend>>()> make;
  // Reads the weights.
  std::function<Result<ReferenceSource>()> prepare;
  // Of the side that was made, with the reference loaded.
  std::function<Result<std::vector<FileStamp>>()> libraries;
  // Ends a wait for another process with kInterrupted; may be null.
  const std::atomic<bool>* interrupted = nullptr;
};

// Not thread-safe. Where another process or thread is about to load the same
// reference for the first time, or computes the same result, Load() and Run()
// wait for it: many that start together compute once, with one worker, or two
// when another one gets to run than the one that loaded.
class CachedReference : public Backend {
 public:
  CachedReference(ContentCache cache, CachedReferenceOptions options)
      : cache_(std::move(cache)), options_(std::move(options)) {}

  [[nodiscard]] std::string name() const override { return "reference"; }
  // What is loaded is what `prepare` says, not `request`.
  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override;
  // A run that is not kept yet loads the worker first, if none is.
  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override;

  // After Load().
  [[nodiscard]] const std::string& weights_sha256() const {
    return loaded_.weights_sha256;
  }
  [[nodiscard]] const std::vector<std::string>& weights_notes() const {
    return loaded_.notes;
  }
  // True as long as everything was found in the cache.
  [[nodiscard]] bool cached() const { return worker_ == nullptr; }
  // What the user should know of the cache, a line each, and forgets it.
  [[nodiscard]] std::vector<std::string> TakeNotes();

 private:
  template <class Entry>
  using Decode = Result<Entry> (*)(std::span<const std::byte>,
                                   const std::shared_ptr<const void>&);
  [[nodiscard]] Status Start();
  [[nodiscard]] Result<RunResult> Compute(const RunRequest& request);
  [[nodiscard]] std::string LoadKey() const;
  [[nodiscard]] std::string RunKey(const RunRequest& request) const;
  template <class Entry>
  [[nodiscard]] std::optional<Entry> Find(const std::string& key,
                                          Decode<Entry> decode);
  // What is kept under the key, found at once or after a wait for whoever
  // computes it. Nothing: the caller computes it, and holds `lock`. Errors:
  // kInterrupted.
  template <class Entry>
  [[nodiscard]] Result<std::optional<Entry>> Await(
      const std::string& key, Decode<Entry> decode,
      std::optional<CacheLock>& lock);
  template <class Entry>
  void Keep(const std::string& key, Entry entry);
  void NoteUnkept(std::string_view reason);

  ContentCache cache_;
  CachedReferenceOptions options_;
  std::optional<ReferenceIdentity> identity_;  // none: nothing can be kept
  LoadEntry loaded_;
  std::unique_ptr<Backend> worker_;  // null: nothing had to be computed
  std::vector<std::string> notes_;
};

// The reference of a validation, in a worker process; its entries are in
// ReferenceOptions::cache / "references". `plan` and `options` must outlive it.
// Errors: kIo when the folder cannot be used.
[[nodiscard]] Result<std::unique_ptr<CachedReference>> OpenCachedReference(
    const ReferencePlan& plan, const ValidationOptions& options,
    std::function<Result<ReferenceSource>()> prepare);

}  // namespace parity

#endif  // PARITY_VALIDATE_CACHED_REFERENCE_H_
