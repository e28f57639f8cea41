#include "sweep/network_exporter.h"

#include <filesystem>
#include <format>
#include <string>
#include <system_error>

#include "base/status_macros.h"
#include "base/version.h"
#include "formats/onnx/onnx_writer.h"
#include "networks/background_matting.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "sweep/sweep_plan.h"
#include "validate/network_weights.h"

namespace parity {

Result<std::filesystem::path> NetworkExporter::Export(
    const ExportPlan& plan, const ReferenceOptions& reference) {
  std::filesystem::path path = folder_ / "model.onnx";
  std::error_code error;
  if (exported_ == plan.key && std::filesystem::exists(path, error))
    return path;
  exported_.clear();
  PARITY_RETURN_IF_ERROR(LoadWeights(plan, reference));
  MattingExportOptions graph = plan.graph;
  graph.weights_source = weights_.source;
  graph.tool_version = kVersion;
  PARITY_ASSIGN_OR_RETURN(
      const MattingExport built,
      BuildBackgroundMatting(plan.config, weights_.tensors, graph));
  // Replacing a file keeps both on the disk for a moment.
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(built.model, path));
  exported_ = plan.key;
  return path;
}

Status NetworkExporter::LoadWeights(const ExportPlan& plan,
                                    const ReferenceOptions& reference) {
  // What decides which parameters there are.
  const std::string needed =
      std::format("{} {} {}", Name(plan.config.type),
                  Name(plan.config.backbone), plan.config.refine_kernel_size);
  if (loaded_ == needed) return {};
  loaded_.clear();
  PARITY_ASSIGN_OR_RETURN(
      weights_, LoadNetworkWeights(
                    {.config = plan.config,
                     .checkpoint = reference.checkpoint,
                     .synthetic_seed = reference.synthetic_seed.value_or(0),
                     .allow_missing_keys = reference.allow_missing_keys}));
  loaded_ = needed;
  return {};
}

}  // namespace parity
