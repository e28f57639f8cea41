#include "validate/runtime_worker.h"

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "worker/worker_client.h"
#include "worker/worker_path.h"

namespace parity {

Result<std::unique_ptr<WorkerClient>> MakeWorker(
    const std::string& side, std::string_view program,
    const WorkerLimits& limits, const std::atomic<bool>* interrupted) {
  PARITY_ASSIGN_OR_RETURN(std::filesystem::path path, FindWorker(program));
  return std::make_unique<WorkerClient>(
      WorkerOptions{.side = side,
                    .program = std::move(path),
                    .arguments = {},
                    .timeout = limits.timeout,
                    .memory_limit_bytes = limits.memory_bytes,
                    .interrupted = interrupted});
}

LoadRequest RuntimeRequest(const std::filesystem::path& model,
                           const RuntimeOptions& options) {
  LoadRequest request;
  request.kind = ModelKind::kOnnx;
  request.path = model.string();
  request.threads = options.threads;
  request.provider = options.provider;
  request.optimization = options.optimization;
  request.runtime_library = options.library.string();
  request.measured = options.repeats > 0;
  return request;
}

}  // namespace parity
