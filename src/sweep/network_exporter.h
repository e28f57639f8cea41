// Exports the network for one combination after another.
#ifndef PARITY_SWEEP_NETWORK_EXPORTER_H_
#define PARITY_SWEEP_NETWORK_EXPORTER_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "parity/error.h"
#include "parity/validation.h"
#include "sweep/sweep_plan.h"
#include "validate/network_weights.h"

namespace parity {

// Keeps the last weights and the last file, since neighbouring rows share them.
class NetworkExporter {
 public:
  // Files go into `folder`, which must exist.
  explicit NetworkExporter(std::filesystem::path folder)
      : folder_(std::move(folder)) {}

  // The file of this plan. The one before it is gone then. Errors: those of the
  // checkpoint, of the network, and of writing.
  [[nodiscard]] Result<std::filesystem::path> Export(
      const ExportPlan& plan, const ReferenceOptions& reference);

 private:
  [[nodiscard]] Status LoadWeights(const ExportPlan& plan,
                                   const ReferenceOptions& reference);

  std::filesystem::path folder_;
  std::string exported_;  // key of the plan that is there; empty: none
  std::string loaded_;    // what the weights are for
  NetworkWeights weights_;
};

}  // namespace parity

#endif  // PARITY_SWEEP_NETWORK_EXPORTER_H_
