// Plants faults in correct models, as exporters and their users make them: to
// see whether a validation notices each and names the right node.
#ifndef PARITY_TESTS_MUTATION_FAULT_PLANTING_H_
#define PARITY_TESTS_MUTATION_FAULT_PLANTING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "parity/error.h"

namespace parity {

enum class FaultKind : std::uint8_t {
  kAttribute,    // dilation, epsilon, alpha, axis, mode of Resize, …
  kWeight,       // scaled, a channel or filter changed, channels swapped
  kBias,         // shifted, dropped
  kPadding,      // shifted by one pixel, the shape kept
  kWiring,       // inputs swapped, another value of the same shape used
  kDtype,        // a value sent through float16 or int32
  kConstant,     // a factor, a bound, a threshold changed
  kOutputOrder,  // two outputs of one type and shape exchanged
};

inline constexpr FaultKind kFaultKinds[] = {
    FaultKind::kAttribute, FaultKind::kWeight,      FaultKind::kBias,
    FaultKind::kPadding,   FaultKind::kWiring,      FaultKind::kDtype,
    FaultKind::kConstant,  FaultKind::kOutputOrder,
};

// "attribute", "weight", …
[[nodiscard]] std::string_view Name(FaultKind kind);

struct PlantedFault {
  Model model;
  std::string way;    // within the kind: "dilation", "one filter zero"
  std::string node;   // where the first wrong value is computed; of inserted
                      // casts: the node whose value they cast
  std::string value;  // its first output, or the exchanged output
  std::string description;
  std::vector<std::string> added = {};  // nodes that were inserted
};

// The same fault for the same model, kind and seed. Structurally sound models
// stay so. Whether the outputs move far enough to be seen depends on the
// numbers. Errors: kNotFound when the graph has no place for such a fault.
[[nodiscard]] Result<PlantedFault> PlantFault(const Model& correct,
                                              FaultKind kind,
                                              std::uint64_t seed);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_FAULT_PLANTING_H_
