// What a graph lacks of the values of its reference, and which node should have
// computed it.
#ifndef PARITY_DIAGNOSE_MISSING_VALUES_H_
#define PARITY_DIAGNOSE_MISSING_VALUES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "diagnose/reference_values.h"
#include "diagnose/value_standing.h"
#include "graph/model.h"

namespace parity {

// How well the reference's values that the graph lacks fit a node.
enum class PlaceEvidence : std::uint8_t {
  kNone,
  kModule,          // one of the same module
  kOperator,        // an operator of its kind, soon after its inputs
  kModuleOperator,  // both
};

struct PlaceJudgement {
  PlaceEvidence evidence = PlaceEvidence::kNone;
  // The value of the reference in the node's place; null when it lacks none
  // that would fit.
  const TracedValue* missing = nullptr;
};

// Name of a value's node, or of the value where the node has none; empty for
// inputs and constants.
[[nodiscard]] std::string LabelOf(const Graph& graph, const ValueState& value);

// Borrows all it is made from.
class MissingValues {
 public:
  MissingValues(const Graph& graph, const ReferenceValues& reference,
                const ValueStandings& standings)
      : graph_(graph), reference_(reference), standings_(standings) {}

  // How likely the node of an unexplained value should have computed one that
  // the graph lacks.
  [[nodiscard]] PlaceJudgement Judge(const ValueState& value) const;

  // Whether an explained value is another one of the reference than its node
  // should have computed: that of its own module and operator is missing.
  [[nodiscard]] bool IsMisplaced(const ValueState& value) const;

 private:
  using Values = std::vector<const TracedValue*>;

  [[nodiscard]] Values After(const ValueState& value) const;
  [[nodiscard]] Values OfModule(std::string_view module) const;
  [[nodiscard]] const TracedValue* FirstOfKind(const ValueState& value,
                                               const Values& values) const;

  const Graph& graph_;
  const ReferenceValues& reference_;
  const ValueStandings& standings_;
};

}  // namespace parity

#endif  // PARITY_DIAGNOSE_MISSING_VALUES_H_
