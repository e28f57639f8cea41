// The places of a graph where a fault of some kind can be planted.
#ifndef PARITY_TESTS_MUTATION_FAULT_SITES_H_
#define PARITY_TESTS_MUTATION_FAULT_SITES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/splitmix.h"
#include "fault_planting.h"
#include "graph/model.h"
#include "graph_facts.h"

namespace parity {

struct FaultSite {
  std::size_t node = 0;
  std::string value;
  // Changes fault.model and describes it. False when it would change nothing
  // after all; the model is thrown away then.
  std::function<bool(PlantedFault& fault, const SplitMixStream& random)> plant;
};

// By the way a fault is made.
using FaultSites = std::map<std::string, std::vector<FaultSite>>;

[[nodiscard]] FaultSites AttributeSites(const Model& model,
                                        const GraphFacts& facts);
[[nodiscard]] FaultSites PaddingSites(const Model& model,
                                      const GraphFacts& facts);
[[nodiscard]] FaultSites WeightSites(const Model& model,
                                     const GraphFacts& facts);
[[nodiscard]] FaultSites BiasSites(const Model& model, const GraphFacts& facts);
[[nodiscard]] FaultSites ConstantSites(const Model& model,
                                       const GraphFacts& facts);
[[nodiscard]] FaultSites WiringSites(const Model& model,
                                     const GraphFacts& facts);
[[nodiscard]] FaultSites DtypeSites(const Model& model,
                                    const GraphFacts& facts);
[[nodiscard]] FaultSites OutputOrderSites(const Model& model,
                                          const GraphFacts& facts);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_FAULT_SITES_H_
