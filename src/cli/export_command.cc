#include "cli/export_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <format>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <print>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "cli/network_flags.h"
#include "cli/terminal.h"
#include "cli/validation_flags.h"
#include "cli/validation_run.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "networks/background_matting.h"
#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/error.h"
#include "validate/network_weights.h"

namespace parity {
namespace {

struct ExportFlags {
  std::map<std::string, std::string> config;
  std::filesystem::path checkpoint;
  std::optional<std::uint64_t> synthetic_seed;
  bool allow_missing_keys = false;
  std::string crop = "roi_align";
  std::string replace = "scatter_element";
  int opset = 12;
  bool verbose = false;
  std::string constant_folding = "true";
  std::string device = "cpu";
  std::string precision = "float32";
  std::filesystem::path output;
  bool validate = false;
  ValidationFlags validation;
};

void AddModelFlags(CLI::App& command, ExportFlags& flags) {
  AddNetworkFlags(command, flags.config);
  const std::string group = "Network";
  CLI::Option* const checkpoint =
      command
          .add_option("--model-checkpoint", flags.checkpoint,
                      "Weights, as torch.save wrote the state_dict; without "
                      "it: synthetic weights")
          ->group(group)
          ->type_name("FILE");
  command
      .add_option("--synthetic-seed", flags.synthetic_seed,
                  "Seed of the synthetic weights (default 0)")
      ->group(group)
      ->excludes(checkpoint)
      ->type_name("N");
  command
      .add_flag("--allow-missing-keys", flags.allow_missing_keys,
                "Go on when the checkpoint's keys are not the network's")
      ->group(group)
      ->needs(checkpoint);
}

void AddGraphFlags(CLI::App& command, ExportFlags& flags) {
  const std::string group = "Graph";
  command
      .add_option("--model-refine-patch-crop-method", flags.crop,
                  "How patches are cut out: unfold, roi_align, gather")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::IsMember({"unfold", "roi_align", "gather"}))
      ->type_name("METHOD");
  command
      .add_option("--model-refine-patch-replace-method", flags.replace,
                  "How patches are put back: scatter_nd, scatter_element")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::IsMember({"scatter_nd", "scatter_element"}))
      ->type_name("METHOD");
  command
      .add_option("--onnx-opset-version", flags.opset,
                  "Version of the ONNX operator set, 11 to 20")
      ->group(group)
      ->capture_default_str()
      ->type_name("N");
  command.add_flag("--onnx-verbose", flags.verbose, "Print every node")
      ->group(group);
  // The published script's flag takes no value; here it may.
  command
      .add_option(
          "--onnx-constant-folding", flags.constant_folding,
          "Fold batch normalisation into the convolutions: true or false")
      ->group(group)
      ->capture_default_str()
      ->expected(0, 1)
      ->default_str("true")
      ->check(CLI::IsMember({"true", "false"}))
      ->type_name("BOOL");
  command
      .add_option("--precision", flags.precision,
                  "Of weights, inputs and outputs: float32, float16")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::IsMember({"float32", "float16"}))
      ->type_name("DTYPE");
  command
      .add_option(
          "--device", flags.device,
          "Accepted for the published script's sake: nothing is run to export")
      ->group(group)
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--output", flags.output, "The ONNX file to write")
      ->group(group)
      ->required()
      ->type_name("FILE");
  command
      .add_flag("--validate", flags.validate,
                "Validate the file against its PyTorch original afterwards")
      ->group(group);
}

Result<MattingExportOptions> ExportOptions(const ExportFlags& flags,
                                           std::string weights_source) {
  MattingExportOptions options;
  options.crop = flags.crop == "unfold"   ? CropMethod::kUnfold
                 : flags.crop == "gather" ? CropMethod::kGather
                                          : CropMethod::kRoiAlign;
  options.replace = flags.replace == "scatter_nd"
                        ? ReplaceMethod::kScatterNd
                        : ReplaceMethod::kScatterElement;
  options.opset_version = flags.opset;
  options.constant_folding = flags.constant_folding != "false";
  options.precision =
      flags.precision == "float16" ? Precision::kFloat16 : Precision::kFloat32;
  options.weights_source = std::move(weights_source);
  options.tool_version = kVersion;
  PARITY_RETURN_IF_ERROR(CheckExportOptions(options));
  return options;
}

void PrintNodes(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    std::string inputs;
    for (const std::string& input : node.inputs)
      inputs += (inputs.empty() ? "" : ", ") + input;
    std::println("{}({}) -> {}", node.op_type, inputs,
                 node.outputs.empty() ? "" : node.outputs.front());
  }
}

Result<ExitCode> RunExport(const ExportFlags& flags,
                           const std::vector<std::string>& command_line) {
  PARITY_ASSIGN_OR_RETURN(const MattingConfig config,
                          ConfigFromAttributes(flags.config));
  PARITY_ASSIGN_OR_RETURN(const MattingExportOptions checked,
                          ExportOptions(flags, ""));
  ProgressLine progress;
  progress.Show("reading the weights");
  PARITY_ASSIGN_OR_RETURN(
      NetworkWeights weights,
      LoadNetworkWeights({.config = config,
                          .checkpoint = flags.checkpoint,
                          .synthetic_seed = flags.synthetic_seed.value_or(0),
                          .allow_missing_keys = flags.allow_missing_keys}));
  PARITY_ASSIGN_OR_RETURN(const MattingExportOptions options,
                          ExportOptions(flags, weights.source));
  progress.Show("building the graph");
  PARITY_ASSIGN_OR_RETURN(
      const MattingExport built,
      BuildBackgroundMatting(config, weights.tensors, options));
  progress.Show("writing " + flags.output.string());
  PARITY_RETURN_IF_ERROR(WriteOnnxModel(built.model, flags.output));
  progress.Clear();

  for (const std::string& note : weights.notes) PrintWarning(note);
  for (const std::string& note : built.notes) PrintWarning(note);
  if (flags.checkpoint.empty()) {
    PrintWarning(
        std::format("no --model-checkpoint: these are SYNTHETIC weights (seed "
                    "{}), for tests of the tools, not for mattes",
                    flags.synthetic_seed.value_or(0)));
  }
  if (flags.verbose) PrintNodes(built.model.graph);
  std::println(
      "{}: {} {}, {}, opset {}, {} nodes, {:.1f} MB", flags.output.string(),
      Name(config.type), Name(config.backbone), flags.precision, flags.opset,
      built.model.graph.nodes.size(),
      static_cast<double>(std::filesystem::file_size(flags.output)) / 1e6);
  if (!flags.validate) return ExitCode::kPassed;

  std::println("");
  ValidationFlags validation = flags.validation;
  validation.options.model = flags.output;
  validation.options.reference.checkpoint = flags.checkpoint;
  validation.options.reference.allow_missing_keys = flags.allow_missing_keys;
  return RunValidation(validation, command_line);
}

}  // namespace

void AddExportCommand(CLI::App& app,
                      const std::vector<std::string>& command_line,
                      std::function<Result<ExitCode>()>& run) {
  CLI::App* const command =
      app.add_subcommand("export",
                         "Write BackgroundMattingV2 as an ONNX file; takes the "
                         "command lines of the published export script");
  const auto flags = std::make_shared<ExportFlags>();
  AddModelFlags(*command, *flags);
  AddGraphFlags(*command, *flags);
  AddValidationFlags(*command, flags->validation);
  command->callback([flags, &command_line, &run] {
    run = [flags, &command_line] { return RunExport(*flags, command_line); };
  });
}

}  // namespace parity
