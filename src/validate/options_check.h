// Whether options fit a model, before anything is run.
#ifndef PARITY_VALIDATE_OPTIONS_CHECK_H_
#define PARITY_VALIDATE_OPTIONS_CHECK_H_

#include "parity/error.h"
#include "parity/validation.h"
#include "validate/contract.h"

namespace parity {

// Everything that can be said without reading weights or recordings: limits of
// outputs that the model has, a reference, cases of shapes that it takes.
// Errors: kInvalidArgument naming the flag.
[[nodiscard]] Status CheckValidationOptions(const ValidationOptions& options,
                                            const Contract& contract);

// The parts of it. A limit for an output that does not exist would silently
// leave the intended one at its default; recordings bring their inputs, and
// other wishes would silently be ignored.
[[nodiscard]] Status CheckLimits(const ValidationOptions& options,
                                 const Contract& contract);
[[nodiscard]] Status CheckNoCases(const CaseOptions& cases);

}  // namespace parity

#endif  // PARITY_VALIDATE_OPTIONS_CHECK_H_
