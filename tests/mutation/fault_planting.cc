#include "fault_planting.h"

#include <cstddef>
#include <cstdint>
#include <format>
#include <iterator>
#include <string_view>

#include "base/splitmix.h"
#include "fault_sites.h"
#include "graph/model.h"
#include "graph_facts.h"
#include "parity/error.h"

namespace parity {
namespace {

FaultSites SitesOf(FaultKind kind, const Model& model,
                   const GraphFacts& facts) {
  switch (kind) {
    case FaultKind::kAttribute:
      return AttributeSites(model, facts);
    case FaultKind::kWeight:
      return WeightSites(model, facts);
    case FaultKind::kBias:
      return BiasSites(model, facts);
    case FaultKind::kPadding:
      return PaddingSites(model, facts);
    case FaultKind::kWiring:
      return WiringSites(model, facts);
    case FaultKind::kDtype:
      return DtypeSites(model, facts);
    case FaultKind::kConstant:
      return ConstantSites(model, facts);
    case FaultKind::kOutputOrder:
      return OutputOrderSites(model, facts);
  }
  return {};
}

}  // namespace

std::string_view Name(FaultKind kind) {
  constexpr std::string_view kNames[] = {"attribute", "weight",      "bias",
                                         "padding",   "wiring",      "dtype",
                                         "constant",  "output order"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<PlantedFault> PlantFault(const Model& correct, FaultKind kind,
                                std::uint64_t seed) {
  const GraphFacts facts(correct.graph);
  const FaultSites sites = SitesOf(kind, correct, facts);
  const SplitMixStream random(Name(kind), seed);
  // Ways are equally likely, however many places each has; the next are tried
  // where one turns out to change nothing.
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const auto& [way, places] = *std::next(
        sites.begin(),
        static_cast<std::ptrdiff_t>((random.Bits(0) + i) % sites.size()));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const FaultSite& site = places[(random.Bits(1) + k) % places.size()];
      const Node& node = correct.graph.nodes[site.node];
      PlantedFault fault = {.model = correct,
                            .way = way,
                            .node = node.name.empty() ? site.value : node.name,
                            .value = site.value,
                            .description = {}};
      if (!site.plant(fault, random)) continue;
      fault.description = std::format("{} '{}': {}", node.op_type, fault.node,
                                      fault.description);
      return fault;
    }
  }
  return Fail(
      ErrorCode::kNotFound,
      std::format("the graph has no place for a fault of kind {}", Name(kind)));
}

}  // namespace parity
