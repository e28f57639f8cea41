#include "diagnose/laboratory.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/error.h"

namespace parity {

Laboratory::Side Laboratory::Make(SideKind kind,
                                  const LoadRequest& load) const {
  Side side;
  Result<std::unique_ptr<Backend>> made = options_.make(kind);
  if (!made) {
    side.error = made.error();
    return side;
  }
  side.backend = *std::move(made);
  if (const Result<LoadResult> loaded = side.backend->Load(load); !loaded)
    side.error = loaded.error();
  return side;
}

void Laboratory::MakeRoom() {
  constexpr std::size_t kMostSides = 2;
  while (true) {
    std::vector<std::map<std::string, Side>::iterator> alive;
    for (auto side = sides_.begin(); side != sides_.end(); ++side) {
      // What failed is remembered, and takes no memory.
      if (!side->second.error) alive.push_back(side);
    }
    if (alive.size() < kMostSides) return;
    sides_.erase(*std::ranges::min_element(
        alive, {}, [](const auto& side) { return side->second.last_use; }));
  }
}

Result<RunResult> Laboratory::Ask(const std::string& key, SideKind kind,
                                  const LoadRequest& load,
                                  const RunRequest& request,
                                  std::string_view progress) {
  Progress(progress);
  auto found = sides_.find(key);
  if (found == sides_.end()) {
    MakeRoom();
    found = sides_.emplace(key, Make(kind, load)).first;
  }
  Side& side = found->second;
  side.last_use = ++uses_;
  if (side.error) return std::unexpected(*side.error);
  Result<RunResult> run = side.backend->Run(request);
  // A worker that died is gone; the next question would find nothing loaded.
  if (!run && run.error().code == ErrorCode::kWorkerDied)
    side.error = run.error();
  return run;
}

LoadRequest Laboratory::GraphRequest(const std::string& precision) const {
  LoadRequest load;
  load.kind = ModelKind::kOnnx;
  load.path = options_.candidate.path;
  load.threads = options_.candidate.threads;
  load.precision = precision;
  return load;
}

const Result<LoadRequest>& Laboratory::ReferenceLoad() {
  if (!reference_load_) {
    reference_load_ = has_reference() ? options_.reference()
                                      : Fail(ErrorCode::kUnsupported,
                                             "a recording cannot be run");
  }
  return *reference_load_;
}

Result<RunResult> Laboratory::Reference64(const RunRequest& request) {
  PARITY_ASSIGN_OR_RETURN(LoadRequest load, ReferenceLoad());
  load.precision = "float64";
  return Ask("reference64", SideKind::kTorch, load, request,
             "explaining: the reference in float64");
}

Result<RunResult> Laboratory::Graph64(const RunRequest& request) {
  return Ask("graph64", SideKind::kTorch, GraphRequest("float64"), request,
             "explaining: the ONNX graph in float64");
}

Result<RunResult> Laboratory::GraphNative(const RunRequest& request) {
  return Ask("graph", SideKind::kTorch, GraphRequest(""), request,
             "explaining: the ONNX graph by PyTorch's kernels");
}

Result<RunResult> Laboratory::Reference(const RunRequest& request) {
  PARITY_ASSIGN_OR_RETURN(const LoadRequest load, ReferenceLoad());
  return Ask("reference", SideKind::kTorch, load, request,
             "explaining: the reference once more");
}

Result<RunResult> Laboratory::Candidate(const RunRequest& request) {
  return Ask("candidate", SideKind::kRuntime, options_.candidate, request,
             "explaining: the candidate once more");
}

Result<RunResult> Laboratory::CandidateVariant(const LoadRequest& load,
                                               const RunRequest& request) {
  last_load_failed_ = true;
  if (bench_ == nullptr) {
    PARITY_ASSIGN_OR_RETURN(bench_, options_.make(SideKind::kRuntime));
  }
  const Result<LoadResult> loaded = bench_->Load(load);
  last_load_failed_ = !loaded;
  Result<RunResult> run =
      loaded ? bench_->Run(request) : std::unexpected(loaded.error());
  // The next variant must not pay for what this one did to the process.
  if (!run && run.error().code == ErrorCode::kWorkerDied) bench_.reset();
  return run;
}

Result<RunResult> Laboratory::ReferenceVariant(const LoadRequest& load,
                                               const RunRequest& request) {
  // Kernels are chosen once in a process: a new one for each.
  Side side = Make(SideKind::kTorch, load);
  if (side.error) return std::unexpected(*side.error);
  return side.backend->Run(request);
}

}  // namespace parity
