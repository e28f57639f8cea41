// The two sides of a validation: their workers, loading, and the first run.
#ifndef PARITY_VALIDATE_SIDE_PAIR_H_
#define PARITY_VALIDATE_SIDE_PAIR_H_

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/scratch_folder.h"
#include "diagnose/laboratory.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/cached_reference.h"
#include "validate/contract.h"
#include "validate/recorded_backend.h"
#include "validate/reference_source.h"

namespace parity {

// One side after Load(): either failed, or has run the first case.
struct SideStart {
  bool loaded = false;
  std::optional<Error> error{};  // of loading, else of the run
  RunResult run{};
};

class SidePair {
 public:
  // All must outlive it. `progress` is called from several threads, one at a
  // time.
  SidePair(const ValidationOptions& options, const ReferencePlan& plan,
           const Contract& contract, const std::vector<Recording>& recordings,
           std::function<void(std::string_view)> progress)
      : options_(options),
        plan_(plan),
        contract_(contract),
        recordings_(recordings),
        progress_(std::move(progress)) {}

  // Starts the worker processes and does not wait for them. Errors: kNotFound
  // when a worker is not installed.
  [[nodiscard]] Status Start();

  // A measured candidate (RuntimeOptions::repeats) has the machine to itself:
  // the reference comes before it. Else each side loads in parallel with the
  // other and runs the first request as soon as it can, so that the quicker one
  // computes while the slower one still loads. Runs themselves never overlap:
  // both want every core. `request` gives null when there are no inputs;
  // nothing runs then. A side does not run when the other has already failed to
  // load.
  void Load(const std::shared_future<const RunRequest*>& request);

  [[nodiscard]] const SideStart& reference_start() const {
    return reference_start_;
  }
  [[nodiscard]] const SideStart& candidate_start() const {
    return candidate_start_;
  }
  [[nodiscard]] Backend& reference() const { return *reference_; }
  [[nodiscard]] Backend& candidate() const { return *candidate_; }

  // Ends both workers: their memory is better used by a diagnosis.
  void Release() {
    cached_reference_ = nullptr;
    reference_.reset();
    candidate_.reset();
  }

  // Sides, digest and notes, as far as they are known.
  void Describe(ValidationResult& result) const;
  // Whether all results of the reference came from the cache, and new notes on
  // it. Before Release().
  void DescribeCache(ValidationResult& result) const;
  // Asks further questions of sides like these.
  [[nodiscard]] LaboratoryOptions MakeLaboratory();

 private:
  void LoadInTurn(const std::shared_future<const RunRequest*>& request);
  SideStart LoadAndRun(Backend& side, const std::function<Status()>& load,
                       const std::shared_future<const RunRequest*>& request);
  Status LoadReference();
  Result<ReferenceSource> Prepare();
  Status LoadCandidate();

  const ValidationOptions& options_;
  const ReferencePlan& plan_;
  const Contract& contract_;
  const std::vector<Recording>& recordings_;
  std::function<void(std::string_view)> progress_;
  std::unique_ptr<Backend> reference_;
  CachedReference* cached_reference_ = nullptr;  // reference_, where it is one
  std::unique_ptr<Backend> candidate_;
  SideStart reference_start_;
  SideStart candidate_start_;
  std::optional<LoadRequest> reference_request_;  // once it was prepared
  SideDescription reference_description_;
  SideDescription candidate_description_;
  std::string weights_sha256_;
  std::vector<std::string> reference_notes_;
  std::vector<std::string> candidate_notes_;
  std::optional<ScratchFolder> scratch_;  // of a measured candidate
  std::mutex running_;
  std::atomic<bool> failed_{false};
};

}  // namespace parity

#endif  // PARITY_VALIDATE_SIDE_PAIR_H_
