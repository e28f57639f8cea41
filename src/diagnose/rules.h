// The rules of attribution: one file each. A rule looks at an investigation,
// asks the laboratory for the experiment that would prove it right, and gives
// its finding, or nothing.
#ifndef PARITY_DIAGNOSE_RULES_H_
#define PARITY_DIAGNOSE_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "parity/diagnosis.h"
#include "parity/error.h"

namespace parity {

// Broken promises about names, counts, dtypes and shapes, and outputs (or
// inputs) that agree when swapped. Runs nothing but, for swapped inputs, the
// float64 graph.
[[nodiscard]] std::optional<Finding> ExamineContract(
    const Investigation& investigation);

// The reference's inputs in another range, layout or channel order make both
// sides agree.
[[nodiscard]] std::optional<Finding> ExamineInputs(
    const Investigation& investigation);

// The reference raised `error` on the inputs of case `name`: whether it takes
// them in another form, and then gives the candidate's outputs.
[[nodiscard]] Finding ExamineRefusal(Laboratory& lab, const Error& error,
                                     const std::string& name,
                                     const RunRequest& request,
                                     const NamedTensors& actual);

// Selections between scores that are equal within noise came out differently;
// with the selection pinned everything agrees.
[[nodiscard]] std::optional<Finding> ExamineTies(
    const Investigation& investigation);

// The reference is wrong: training mode, another result each time, its
// convolution kernels, an overflow.
[[nodiscard]] std::optional<Finding> ExamineReference(
    const Investigation& investigation);

// The candidate gives something else each time.
[[nodiscard]] std::optional<Finding> ExamineDeterminism(
    const Investigation& investigation);

// Right on the CPU provider, or with graph optimizations off, or neither.
[[nodiscard]] std::optional<Finding> ExamineProvider(
    const Investigation& investigation);
[[nodiscard]] std::optional<Finding> ExamineOptimizer(
    const Investigation& investigation);
[[nodiscard]] std::optional<Finding> ExamineRuntime(
    const Investigation& investigation, std::int64_t window_bytes);

// The float64 graph departs from the float64 reference. `cases` are all that
// the validation ran.
[[nodiscard]] std::optional<Finding> ExamineExport(
    const Investigation& investigation, const std::vector<CaseSummary>& cases);

// NaN or infinity that no other rule accounts for.
[[nodiscard]] std::optional<Finding> ExamineNonFinite(
    const Investigation& investigation);

// Nothing but rounding; says which tolerance would hold.
[[nodiscard]] std::optional<Finding> ExamineRounding(
    const Investigation& investigation);

// Entries of a batch give another result than alone, depending on their place:
// f(a ∪ b) ≠ f(a) ∪ f(b). Both sides may agree on it. For models whose inputs
// and outputs all have a first axis of one name that stands for a batch.
[[nodiscard]] std::optional<Finding> ExamineBatch(Laboratory& lab,
                                                  const Model& model,
                                                  const Subject& subject);

// The candidate could not be loaded or run, with `error`.
[[nodiscard]] Finding ExamineLoadFailure(Laboratory& lab, const Model* model,
                                         const Error& error,
                                         const RunRequest* request);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_RULES_H_
