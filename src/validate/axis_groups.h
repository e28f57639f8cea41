// Axes of a model's inputs that may have other sizes, gathered into groups that
// change together.
#ifndef PARITY_VALIDATE_AXIS_GROUPS_H_
#define PARITY_VALIDATE_AXIS_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {

// Indices of an input and of one of its axes.
struct InputAxis {
  std::size_t input;
  std::size_t axis;
  bool operator==(const InputAxis&) const = default;
};

struct AxisGroup {
  std::string label;            // "height", "batch", "mask axis 1"
  std::vector<InputAxis> axes;  // never empty
  std::int64_t size = 0;        // of each, in the given inputs
  bool is_batch = false;        // the outermost of several
};

// The axes that `contract` leaves open, one group a dimension name, and one
// each for those without a name. Left out are inputs whose shape the contract
// does not declare, and names whose axes have different sizes already.
[[nodiscard]] std::vector<AxisGroup> OpenAxisGroups(const NamedTensors& inputs,
                                                    const Contract& contract);

// The same with those groups joined that have the same place and size in
// different inputs: exporters leave names out, or number them by input.
[[nodiscard]] std::vector<AxisGroup> JoinAxisGroups(
    const NamedTensors& inputs, const std::vector<AxisGroup>& groups);

}  // namespace parity

#endif  // PARITY_VALIDATE_AXIS_GROUPS_H_
