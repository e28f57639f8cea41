// Further cases like one that was run: other sizes, other batches, suspect
// values. A model that is right for one input may be wrong for its neighbours,
// where a size was baked in, a tie appears, or a range is left.
#ifndef PARITY_VALIDATE_CASE_VARIATIONS_H_
#define PARITY_VALIDATE_CASE_VARIATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {

enum class VariationKind : std::uint8_t { kBatch, kSize, kValues };

// What happens to the values of the floating inputs, all of them together.
enum class ValueChange : std::uint8_t {
  kNone,
  kConstant,   // every element becomes `operand`
  kScale,      // times `operand`; float16 stays finite
  kOffset,     // plus `operand`; inputs of fewer than 32 bits stay
  kZeroRow,    // the first row of the last axis becomes 0
  kSteps,      // rounded to multiples of `operand`
  kMiddle,     // every element becomes the middle of the input's range
  kRangeEnds,  // every element goes to the nearer end of the input's range
  kInteger,    // the one element of input `input` becomes `operand`
};

// What to try; varied_inputs.h makes the tensors.
struct CaseVariation {
  std::string name;  // unique: "batch 2", "height 33", "offset 1000"
  VariationKind kind = VariationKind::kValues;
  std::vector<Shape> shapes{};  // of the inputs, in order
  ValueChange change = ValueChange::kNone;
  double operand = 0;
  std::string input{};
};

// At most 32 variations of the case with these `inputs`, the most telling kinds
// first and of each axis something. Axes with the same dimension name change
// together, in all inputs; axes without, or with other names, also change
// together with those that have their place and size in another input, and then
// alone. Axes that `contract` fixes, and those of inputs whose shape it does
// not declare, never change. No input gets more than four times its elements,
// and no case with other shapes more than 64 MiB. Variations that would change
// nothing are left out.
[[nodiscard]] std::vector<CaseVariation> PlanVariations(
    const NamedTensors& inputs, const Contract& contract);

}  // namespace parity

#endif  // PARITY_VALIDATE_CASE_VARIATIONS_H_
