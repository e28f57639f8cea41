#include "validate/options_check.h"

#include <algorithm>
#include <format>
#include <map>
#include <string>
#include <string_view>

#include "base/status_macros.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "validate/case_plan.h"
#include "validate/contract.h"
#include "validate/reference_source.h"

namespace parity {
namespace {

Status CheckNames(const std::map<std::string, double>& limits,
                  std::string_view flag, const Contract& contract) {
  for (const auto& [name, limit] : limits) {
    if (std::ranges::contains(contract.outputs, name, &ValueInfo::name))
      continue;
    std::string known;
    for (const ValueInfo& output : contract.outputs)
      known += (known.empty() ? "" : ", ") + output.name;
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} {}: the model has no such output; it has {}",
                            flag, name, known));
  }
  return {};
}

}  // namespace

Status CheckLimits(const ValidationOptions& options, const Contract& contract) {
  PARITY_RETURN_IF_ERROR(CheckNames(options.output_atol, "--atol", contract));
  return CheckNames(options.output_rtol, "--rtol", contract);
}

Status CheckNoCases(const CaseOptions& cases) {
  const bool none = cases.only.empty() && cases.shapes.empty() &&
                    cases.dimensions.empty() && cases.generator.empty() &&
                    cases.images.empty() && cases.inputs.empty();
  if (none) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "--recorded brings its own inputs: --case, --shape, --dim, "
              "--generator, --inputs and --image have no meaning with it");
}

Status CheckValidationOptions(const ValidationOptions& options,
                              const Contract& contract) {
  PARITY_RETURN_IF_ERROR(CheckLimits(options, contract));
  PARITY_ASSIGN_OR_RETURN(const ReferencePlan plan,
                          PlanReference(options.reference, contract));
  if (plan.kind == ReferenceKind::kRecorded) return CheckNoCases(options.cases);
  return PlanCases(contract, options.cases, plan.network)
      .transform([](const auto&) {});
}

}  // namespace parity
