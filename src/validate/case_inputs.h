// Makes the tensors of a planned case: generated, read from files, or decoded
// from pictures.
#ifndef PARITY_VALIDATE_CASE_INPUTS_H_
#define PARITY_VALIDATE_CASE_INPUTS_H_

#include <vector>

#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"
#include "validate/case_plan.h"
#include "validate/contract.h"

namespace parity {

struct CaseInputs {
  NamedTensors tensors;  // in the model's order
  std::vector<InputDescription> descriptions;
};

// Errors: those of reading; kIncompatible when a picture has not the size the
// model declares.
[[nodiscard]] Result<CaseInputs> MakeCaseInputs(const PlannedCase& planned,
                                                const Contract& contract);

// Descriptions of tensors that all come from `origin`.
[[nodiscard]] std::vector<InputDescription> DescribeInputs(
    const NamedTensors& tensors, const std::string& origin);

}  // namespace parity

#endif  // PARITY_VALIDATE_CASE_INPUTS_H_
