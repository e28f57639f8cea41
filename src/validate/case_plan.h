// Which inputs a validation tries: names, dtypes, shapes and generators, before
// anything is generated.
#ifndef PARITY_VALIDATE_CASE_PLAN_H_
#define PARITY_VALIDATE_CASE_PLAN_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "networks/matting_config.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {

struct PlannedInput {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string generator;        // of generate/generator.h
  double value = 0;             // of generator "constant"
  std::filesystem::path image;  // when set, the input is this picture and shape
                                // is what it should have (axis 0 and 1)
};

struct PlannedCase {
  std::string name;
  std::uint64_t seed = 0;
  std::vector<PlannedInput> inputs;   // in the model's order
  std::filesystem::path inputs_file;  // when set, the tensors come from here
};

// The cases of `options` for a model, or the three of the default plan:
//   standard   normal-distributed, batch 1, 720×1280 pictures: what the
//   published script tries, where its size differs from the trace's image in
//   [0,1] with structure, batch 2, odd multiples of 4 (372×532) saturated
//   constant pictures at the ends of the range: every clamp and every
//   comparison at its edge
// Axes the model fixes keep their size; other dynamic axes get small sizes.
// `network` is the built-in network's configuration, if that is what is
// validated: the saturated case is then small enough that every cell is
// refined, since equal scores leave the choice of cells open. Errors:
// kInvalidArgument for names the model does not have, sizes it does not allow,
// unknown case names.
[[nodiscard]] Result<std::vector<PlannedCase>> PlanCases(
    const Contract& contract, const CaseOptions& options,
    const std::optional<MattingConfig>& network);

}  // namespace parity

#endif  // PARITY_VALIDATE_CASE_PLAN_H_
