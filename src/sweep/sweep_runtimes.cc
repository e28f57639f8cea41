#include "sweep/sweep_runtimes.h"

#include <algorithm>
#include <expected>
#include <format>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/sweep_axes.h"
#include "validate/runtime_worker.h"
#include "worker/worker_client.h"

namespace parity {
namespace {

constexpr const char* kSystem = "system";

Result<SweepRuntime> Find(const SweepOptions& options,
                          const std::string& name) {
  SweepRuntime runtime{
      .name = name, .library = {}, .version = {}, .providers = {}};
  if (name == kSystem) return runtime;
  if (name.contains('/') || name.contains(".so")) {
    runtime.library = name;
    return runtime;
  }
  if (!options.find_runtime) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("'{}' is neither 'system' nor the path of an ONNX "
                            "Runtime library",
                            name));
  }
  PARITY_ASSIGN_OR_RETURN(runtime.library, options.find_runtime(name));
  return runtime;
}

// Fills in version and providers. Errors: kInterrupted, kNotFound.
Status Describe(const SweepOptions& options, SweepRuntime& runtime) {
  PARITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<WorkerClient> worker,
      // The limits of a row are for rows.
      MakeWorker("candidate", kRuntimeWorker, WorkerLimits{},
                 options.validation.interrupted));
  LoadRequest request;
  request.runtime_library = runtime.library.string();
  Result<LoadResult> loaded = worker->Load(request);
  if (loaded) {
    runtime.version = std::move(loaded->version);
    runtime.providers = std::move(loaded->providers);
  } else if (loaded.error().code == ErrorCode::kInterrupted) {
    return std::unexpected(std::move(loaded).error());
  }
  return {};
}

}  // namespace

Result<std::vector<SweepRuntime>> FindSweepRuntimes(
    const SweepOptions& options) {
  PARITY_RETURN_IF_ERROR(CheckAllIsAlone("runtime", options.axes.runtime));
  std::vector<std::string> names = options.axes.runtime;
  if (names.empty()) {
    const std::string library = options.validation.runtime.library.string();
    names.push_back(library.empty() ? kSystem : library);
  }
  std::vector<SweepRuntime> runtimes;
  for (const std::string& name : names) {
    if (std::ranges::contains(runtimes, name, &SweepRuntime::name)) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("--runtime: '{}' is given twice", name));
    }
    PARITY_ASSIGN_OR_RETURN(SweepRuntime runtime, Find(options, name));
    PARITY_RETURN_IF_ERROR(Describe(options, runtime));
    runtimes.push_back(std::move(runtime));
  }
  return runtimes;
}

}  // namespace parity
