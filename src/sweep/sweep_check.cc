#include "sweep/sweep_check.h"

#include <expected>
#include <filesystem>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/error.h"
#include "sweep/axis_value.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"
#include "validate/contract.h"
#include "validate/options_check.h"

namespace parity {
namespace {

// One file of the sweep: all of them have the same inputs and outputs. Of
// several backbones, one that the weights are for.
Result<std::filesystem::path> AnyModel(const SweepPlan& plan,
                                       NetworkExporter& exporter) {
  std::optional<Error> refused;
  std::set<std::string> tried;
  for (const PlannedRow& row : plan.rows) {
    if (!row.exported) return row.options.model;
    const std::string weights =
        std::format("{} {}", ValueOf(row.axes, "backbone"),
                    ValueOf(row.axes, "kernel_size"));
    if (!tried.insert(weights).second) continue;
    auto exported = exporter.Export(*row.exported, row.options.reference);
    if (exported) return exported;
    if (!refused) refused = std::move(exported).error();
  }
  return std::unexpected(*refused);
}

}  // namespace

Status CheckSweep(const SweepPlan& plan, NetworkExporter& exporter) {
  PARITY_ASSIGN_OR_RETURN(const std::filesystem::path path,
                          AnyModel(plan, exporter));
  PARITY_ASSIGN_OR_RETURN(const Model model, ReadOnnxModel(path));
  PARITY_RETURN_IF_ERROR(CheckStructure(model));
  const Contract contract = ContractOf(model);
  std::set<std::string> shapes;
  for (const PlannedRow& row : plan.rows) {
    if (!shapes.emplace(ValueOf(row.axes, "shape")).second) continue;
    PARITY_RETURN_IF_ERROR(CheckValidationOptions(row.options, contract));
  }
  return {};
}

}  // namespace parity
