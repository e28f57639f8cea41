// The ONNX Runtime libraries of a sweep, and what each has.
#ifndef PARITY_SWEEP_SWEEP_RUNTIMES_H_
#define PARITY_SWEEP_SWEEP_RUNTIMES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

struct SweepRuntime {
  std::string name;               // on the axis: "system", "1.30.0"
  std::filesystem::path library;  // empty: the system's
  std::string version;  // "ONNX Runtime 1.21.0"; empty: it does not load
  std::vector<std::string> providers;
};

// The runtimes that the axis names, or that of SweepOptions::validation. A
// library that does not load stays, so that its rows can say so. Errors:
// kInvalidArgument for one that is named twice, those of
// SweepOptions::find_runtime, kInterrupted, and kNotFound when the worker is
// not installed.
[[nodiscard]] Result<std::vector<SweepRuntime>> FindSweepRuntimes(
    const SweepOptions& options);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_RUNTIMES_H_
