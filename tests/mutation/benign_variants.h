// Other ways to write the same model, as exporters and optimizers do: none may
// make a validation fail.
#ifndef PARITY_TESTS_MUTATION_BENIGN_VARIANTS_H_
#define PARITY_TESTS_MUTATION_BENIGN_VARIANTS_H_

#include <cstdint>
#include <string_view>

#include "graph/model.h"
#include "parity/error.h"

namespace parity {

enum class BenignKind : std::uint8_t {
  kRenamed,               // nodes and inner values; modules no longer show
  kConstantNodes,         // initializers become Constant nodes
  kConstantInitializers,  // and the other way round
  kShuffledInitializers,
  kShuffledNodes,  // another topological order
  kIdentity,       // these are inserted behind a few values:
  kDropout,        // in inference
  kReshapePair,    // flat and back
  kTransposePair,  // channels last and back
  kTimesOne,
  kPlusZero,
};

inline constexpr BenignKind kBenignKinds[] = {
    BenignKind::kRenamed,
    BenignKind::kConstantNodes,
    BenignKind::kConstantInitializers,
    BenignKind::kShuffledInitializers,
    BenignKind::kShuffledNodes,
    BenignKind::kIdentity,
    BenignKind::kDropout,
    BenignKind::kReshapePair,
    BenignKind::kTransposePair,
    BenignKind::kTimesOne,
    BenignKind::kPlusZero,
};

// "renamed", "constant nodes", …
[[nodiscard]] std::string_view Name(BenignKind kind);

// The same variant for the same model, kind and seed; inputs and outputs keep
// their names and order. Errors: kNotFound when there is nothing to change.
[[nodiscard]] Result<Model> BenignVariant(const Model& model, BenignKind kind,
                                          std::uint64_t seed);

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_BENIGN_VARIANTS_H_
