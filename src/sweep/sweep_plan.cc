#include "sweep/sweep_plan.h"

#include <filesystem>
#include <format>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/version.h"
#include "formats/onnx/onnx_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "sweep/axis_value.h"
#include "sweep/row_command.h"
#include "sweep/sweep_axes.h"
#include "sweep/sweep_digest.h"
#include "sweep/sweep_runtimes.h"
#include "validate/contract.h"

namespace parity {
namespace {

using AxisValues = std::vector<AxisValue>;

// Every combination of the axes' values, the last axis changing fastest.
std::vector<AxisValues> Combinations(const std::vector<Axis>& axes) {
  std::vector<AxisValues> combinations = {{}};
  for (const Axis& axis : axes) {
    std::vector<AxisValues> longer;
    longer.reserve(combinations.size() * axis.values.size());
    for (const AxisValues& combination : combinations) {
      for (const std::string& value : axis.values) {
        longer.push_back(combination);
        longer.back().push_back({.axis = axis.name, .value = value});
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

// Values are those that ExportAxes() has let pass.
Result<ExportPlan> MakeExportPlan(const MattingConfig& base,
                                  const AxisValues& values) {
  std::map<std::string, std::string> attributes = ToAttributes(base);
  attributes["backbone"] = ValueOf(values, "backbone");
  if (base.type == MattingType::kRefine) {
    attributes["backbone_scale"] = ValueOf(values, "backbone_scale");
    attributes["refine_kernel_size"] = ValueOf(values, "kernel_size");
    attributes["refine_mode"] = ValueOf(values, "refine_mode");
  }
  ExportPlan plan;
  PARITY_ASSIGN_OR_RETURN(plan.config, ConfigFromAttributes(attributes));
  PARITY_RETURN_IF_ERROR(CheckConfig(plan.config));
  const std::string_view crop = ValueOf(values, "crop");
  plan.graph.crop = crop == "unfold"   ? CropMethod::kUnfold
                    : crop == "gather" ? CropMethod::kGather
                                       : CropMethod::kRoiAlign;
  plan.graph.replace = ValueOf(values, "replace") == "scatter_nd"
                           ? ReplaceMethod::kScatterNd
                           : ReplaceMethod::kScatterElement;
  plan.graph.opset_version = std::stoi(std::string(ValueOf(values, "opset")));
  plan.graph.precision = ValueOf(values, "precision") == "float16"
                             ? Precision::kFloat16
                             : Precision::kFloat32;
  PARITY_RETURN_IF_ERROR(CheckExportOptions(plan.graph));
  for (const AxisValue& value : values)
    plan.key += value.axis + "=" + value.value + ";";
  return plan;
}

// Makes the rows of one sweep.
class Planner {
 public:
  Planner(const SweepOptions& options,
          const std::vector<SweepRuntime>& runtimes)
      : options_(options), runtimes_(runtimes) {}

  Result<SweepPlan> Plan() {
    PARITY_ASSIGN_OR_RETURN(
        const std::vector<Axis> axes,
        options_.validation.model.empty() ? NetworkAxes() : ModelAxes());
    PARITY_RETURN_IF_ERROR(CheckAllIsAlone("provider", options_.axes.provider));
    PARITY_ASSIGN_OR_RETURN(optimizations_,
                            OptimizationValues(options_.axes.optimization));
    PARITY_ASSIGN_OR_RETURN(
        shapes_, ShapeValues(options_.axes.shape, network_.has_value()));
    for (const AxisValues& exported : Combinations(axes))
      PARITY_RETURN_IF_ERROR(AddRows(exported));
    plan_.title =
        std::format("{}, {} combination{}", subject_, plan_.rows.size(),
                    plan_.rows.size() == 1 ? "" : "s");
    PARITY_ASSIGN_OR_RETURN(plan_.digest, Digest());
    return std::move(plan_);
  }

 private:
  Result<std::vector<Axis>> NetworkAxes() {
    const ReferenceOptions& reference = options_.validation.reference;
    if (!reference.torchscript.empty() || !reference.recorded.empty()) {
      return Fail(ErrorCode::kInvalidArgument,
                  "--torchscript and --recorded are references for a model "
                  "that is there already: name it");
    }
    PARITY_ASSIGN_OR_RETURN(network_,
                            ConfigFromAttributes(reference.network_config));
    if (reference.checkpoint.empty()) {
      plan_.notes.push_back(
          std::format("no --model-checkpoint: these are SYNTHETIC weights "
                      "(seed {}), whose verdicts say little about yours",
                      reference.synthetic_seed.value_or(0)));
    }
    subject_ = std::format("BackgroundMattingV2 {}", Name(network_->type));
    inputs_ = {"src", "bgr"};
    return ExportAxes(options_.axes, *network_);
  }

  Result<std::vector<Axis>> ModelAxes() {
    PARITY_RETURN_IF_ERROR(CheckNoExportAxes(options_.axes));
    const ValidationOptions& validation = options_.validation;
    PARITY_ASSIGN_OR_RETURN(const Model model, ReadOnnxModel(validation.model));
    PARITY_RETURN_IF_ERROR(CheckStructure(model));
    const Contract contract = ContractOf(model);
    subject_ = validation.model.filename().string();
    for (const ValueInfo& input : contract.inputs)
      inputs_.push_back(input.name);
    return std::vector<Axis>{};
  }

  Status AddRows(const AxisValues& exported) {
    std::optional<ExportPlan> model;
    if (network_) {
      PARITY_ASSIGN_OR_RETURN(model, MakeExportPlan(*network_, exported));
    }
    const std::vector<std::string> unchanged = {""};
    for (const std::string& shape : shapes_.empty() ? unchanged : shapes_) {
      for (const SweepRuntime& runtime : runtimes_) {
        for (const std::string& provider :
             ProviderValues(options_.axes.provider, runtime.providers)) {
          for (const std::string& optimization : optimizations_) {
            AxisValues values = exported;
            if (!shape.empty())
              values.push_back({.axis = "shape", .value = shape});
            values.push_back({.axis = "runtime", .value = runtime.name});
            values.push_back({.axis = "provider", .value = provider});
            values.push_back({.axis = "optimization", .value = optimization});
            PARITY_RETURN_IF_ERROR(AddRow(model, std::move(values), runtime));
          }
        }
      }
    }
    return {};
  }

  Status AddRow(const std::optional<ExportPlan>& model, AxisValues values,
                const SweepRuntime& runtime) {
    PlannedRow row;
    row.index = plan_.rows.size();
    row.exported = model;
    row.options = options_.validation;
    row.options.runtime.library = runtime.library;
    row.options.runtime.provider = ValueOf(values, "provider");
    row.options.runtime.optimization = ValueOf(values, "optimization");
    row.options.runtime.repeats = options_.repeats;
    if (const std::string_view shape = ValueOf(values, "shape");
        !shape.empty()) {
      PARITY_ASSIGN_OR_RETURN(row.options.cases.shapes,
                              ShapesOf(shape, inputs_));
    }
    row.command = model ? ExportCommand(model->config, model->graph,
                                        row.options, runtime.name)
                        : ValidateCommand(row.options, runtime.name);
    if (model) {
      // The exported file's own words say what it is.
      row.options.reference.network_config.clear();
    }
    row.axes = std::move(values);
    plan_.rows.push_back(std::move(row));
    return {};
  }

  Result<std::string> Digest() {
    SweepDigest digest;
    digest.Add("tool", kVersion);
    if (!options_.validation.model.empty())
      PARITY_RETURN_IF_ERROR(digest.AddModel(options_.validation.model));
    PARITY_RETURN_IF_ERROR(digest.AddValidation(options_.validation));
    digest.Add("repeats", std::to_string(options_.repeats));
    for (const SweepRuntime& runtime : runtimes_) {
      digest.Add(runtime.name, runtime.version);
      // One that is not there is a row, not an error.
      std::error_code error;
      if (std::filesystem::is_regular_file(runtime.library, error))
        PARITY_RETURN_IF_ERROR(digest.AddFile("library", runtime.library));
    }
    for (const PlannedRow& row : plan_.rows) {
      for (const AxisValue& value : row.axes)
        digest.Add(value.axis, value.value);
    }
    return digest.Finish();
  }

  const SweepOptions& options_;
  const std::vector<SweepRuntime>& runtimes_;
  std::optional<MattingConfig> network_;  // nothing: the model is given
  std::string subject_;
  std::vector<std::string> inputs_;
  std::vector<std::string> optimizations_;
  std::vector<std::string> shapes_;
  SweepPlan plan_;
};

}  // namespace

Result<SweepPlan> PlanSweep(const SweepOptions& options,
                            const std::vector<SweepRuntime>& runtimes) {
  return Planner(options, runtimes).Plan();
}

}  // namespace parity
