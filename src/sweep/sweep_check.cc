#include "sweep/sweep_check.h"

#include <algorithm>
#include <expected>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/network_exporter.h"
#include "sweep/sweep_plan.h"
#include "validate/contract.h"
#include "validate/options_check.h"

namespace parity {
namespace {

std::string ValueOf(const PlannedRow& row, const std::string& axis) {
  const auto found = std::ranges::find(row.axes, axis, &AxisValue::axis);
  return found == row.axes.end() ? "" : found->value;
}

// One file of the sweep: all of them have the same inputs and outputs. Of
// several backbones, one that the weights are for.
Result<std::filesystem::path> AnyModel(const SweepPlan& plan,
                                       NetworkExporter& exporter) {
  std::optional<Error> refused;
  std::set<std::string> tried;
  for (const PlannedRow& row : plan.rows) {
    if (!row.exported) return row.options.model;
    const std::string weights =
        ValueOf(row, "backbone") + " " + ValueOf(row, "kernel_size");
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
    if (!shapes.insert(ValueOf(row, "shape")).second) continue;
    PARITY_RETURN_IF_ERROR(CheckValidationOptions(row.options, contract));
  }
  return {};
}

}  // namespace parity
