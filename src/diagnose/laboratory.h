// The computations a diagnosis can ask for, beyond the two runs of the
// validation.
#ifndef PARITY_DIAGNOSE_LABORATORY_H_
#define PARITY_DIAGNOSE_LABORATORY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.h"
#include "parity/error.h"

namespace parity {

enum class SideKind : std::uint8_t { kTorch, kRuntime };

struct LaboratoryOptions {
  // Makes a side that nothing is loaded in.
  std::function<Result<std::unique_ptr<Backend>>(SideKind)> make;
  // What the validation's reference is loaded with: asked for when first
  // needed, and once, since it carries the weights. Empty for a recording.
  std::function<Result<LoadRequest>()> reference;
  ModelKind reference_kind = ModelKind::kTorchScript;
  LoadRequest candidate;
  std::function<void(std::string_view)> progress;  // may be empty
};

// Sides are made and loaded when first asked; the two that were asked last are
// kept, since one in float64 takes a gigabyte for a large picture. Every answer
// may be an error: a script with hard-wired dtypes does not run in float64, a
// graph with an unknown operator is not evaluated. Not thread-safe.
class Laboratory {
 public:
  explicit Laboratory(LaboratoryOptions options)
      : options_(std::move(options)) {}

  [[nodiscard]] const LaboratoryOptions& options() const { return options_; }
  [[nodiscard]] bool has_reference() const {
    return static_cast<bool>(options_.reference);
  }
  // Errors: those of reading the weights; kUnsupported for a recording.
  [[nodiscard]] const Result<LoadRequest>& ReferenceLoad();

  // The oracle. Each answers with what it could compute.
  [[nodiscard]] Result<RunResult> Reference64(const RunRequest& request);
  [[nodiscard]] Result<RunResult> Graph64(const RunRequest& request);
  // The graph by libtorch's kernels in the types it declares.
  [[nodiscard]] Result<RunResult> GraphNative(const RunRequest& request);
  // The reference and the candidate as they were validated, in processes of
  // their own.
  [[nodiscard]] Result<RunResult> Reference(const RunRequest& request);
  [[nodiscard]] Result<RunResult> Candidate(const RunRequest& request);

  // One run of the candidate or the reference loaded differently. The
  // candidate's process serves one variant after another, the reference gets a
  // new one each time.
  [[nodiscard]] Result<RunResult> CandidateVariant(const LoadRequest& load,
                                                   const RunRequest& request);
  [[nodiscard]] Result<RunResult> ReferenceVariant(const LoadRequest& load,
                                                   const RunRequest& request);

  // Whether the last CandidateVariant() failed before anything ran.
  [[nodiscard]] bool last_load_failed() const { return last_load_failed_; }

  // Frees the memory of all sides.
  void Clear() {
    sides_.clear();
    bench_.reset();
  }

  void Progress(std::string_view text) const {
    if (options_.progress) options_.progress(text);
  }

 private:
  struct Side {
    std::unique_ptr<Backend> backend;
    std::optional<Error> error;  // of making or loading, or how it died
    std::uint64_t last_use = 0;
  };
  // Ends the sides that have not been asked for longest, until one more fits.
  void MakeRoom();
  [[nodiscard]] Result<RunResult> Ask(const std::string& key, SideKind kind,
                                      const LoadRequest& load,
                                      const RunRequest& request,
                                      std::string_view progress);
  [[nodiscard]] Side Make(SideKind kind, const LoadRequest& load) const;
  [[nodiscard]] LoadRequest GraphRequest(const std::string& precision) const;

  LaboratoryOptions options_;
  std::optional<Result<LoadRequest>> reference_load_;
  std::map<std::string, Side> sides_;
  std::uint64_t uses_ = 0;
  // For variants: the runtime can load another model in the same process, and
  // starting one is the expensive part.
  std::unique_ptr<Backend> bench_;
  bool last_load_failed_ = false;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_LABORATORY_H_
