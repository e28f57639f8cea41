// Where the worker programs are.
#ifndef PARITY_WORKER_WORKER_PATH_H_
#define PARITY_WORKER_WORKER_PATH_H_

#include <filesystem>
#include <string_view>
#include <vector>

#include "parity/error.h"

namespace parity {

// The environment variable that names a folder of worker programs.
inline constexpr const char* kWorkersVariable = "ONNX_PARITY_WORKERS";

// Looks for the worker program of that name ("onnx-parity-ort") in the folder
// that ONNX_PARITY_WORKERS names, and only there when it is set; else, relative
// to the program or shared library that contains this code, in
// ../libexec/onnx-parity (installed), ., workers and ../workers (built).
// Errors: kNotFound, naming every place looked in.
[[nodiscard]] Result<std::filesystem::path> FindWorker(std::string_view name);

// The same below `folder`, without the environment variable: for tests.
[[nodiscard]] Result<std::filesystem::path> FindWorkerFrom(
    const std::filesystem::path& folder, std::string_view name);

}  // namespace parity

#endif  // PARITY_WORKER_WORKER_PATH_H_
