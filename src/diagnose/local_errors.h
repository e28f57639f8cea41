// Which node introduces an error, apart from those that only carry it: every
// node is computed in float64 on the runtime's own inputs and compared with the
// runtime's own output.
#ifndef PARITY_DIAGNOSE_LOCAL_ERRORS_H_
#define PARITY_DIAGNOSE_LOCAL_ERRORS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "parity/diagnosis.h"
#include "parity/error.h"

namespace parity {

inline constexpr std::string_view kCpuProviderName = "CPUExecutionProvider";
inline constexpr std::int64_t kDefaultWindowBytes = 128'000'000;

struct LocalError {
  std::string node;
  std::string op;
  std::string value;      // the output that is wrong
  ErrorSize local;        // against float64 on the node's own inputs
  ErrorSize native;       // the same for libtorch's kernel in the node's types
  double scale_rms = 0;   // of the value
  double propagated = 0;  // relative distance from the float64 graph's value
};

struct LocalErrors {
  std::vector<LocalError> wrong;  // beyond noise, in the order of the graph
  std::int64_t examined = 0;      // nodes
  std::int64_t skipped = 0;       // nodes that could not be examined
  bool tapping_changed_result = false;  // outputs with taps are within noise of
                                        // float64, without they were not
};

// Runs the candidate in windows over the graph, each with taps of at most
// `window_bytes`. Errors: those of loading and running it with taps. Requires
// the float64 graph.
[[nodiscard]] Result<LocalErrors> FindLocalErrors(
    const Investigation& investigation, const LoadRequest& candidate,
    std::int64_t window_bytes);

// Runs FindLocalErrors() and tells what it found in `finding`: node, operator,
// module and numbers; or why the nodes could not be examined: false then.
bool AddLocalErrors(const Investigation& investigation,
                    const LoadRequest& candidate, std::int64_t window_bytes,
                    Finding& finding);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_LOCAL_ERRORS_H_
