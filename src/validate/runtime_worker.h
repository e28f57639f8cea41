// Workers for the two sides, and what they are asked to load.
#ifndef PARITY_VALIDATE_RUNTIME_WORKER_H_
#define PARITY_VALIDATE_RUNTIME_WORKER_H_

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "backend/backend.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "worker/worker_client.h"

namespace parity {

inline constexpr std::string_view kRuntimeWorker = "onnx-parity-ort";
inline constexpr std::string_view kTorchWorker = "onnx-parity-torch";

// Not started yet. `side` is for messages. Errors: kNotFound when the program
// is not installed.
[[nodiscard]] Result<std::unique_ptr<WorkerClient>> MakeWorker(
    const std::string& side, std::string_view program,
    const WorkerLimits& limits, const std::atomic<bool>* interrupted);

// To load `model` in ONNX Runtime.
[[nodiscard]] LoadRequest RuntimeRequest(const std::filesystem::path& model,
                                         const RuntimeOptions& options);

}  // namespace parity

#endif  // PARITY_VALIDATE_RUNTIME_WORKER_H_
