#include "sweep/row_command.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>

#include "networks/matting_config.h"
#include "networks/matting_export_options.h"
#include "parity/diagnosis.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"
#include "parity/validation.h"

namespace parity {
namespace {

bool IsPlain(char letter) {
  constexpr std::string_view kPlain = "_-./=:,+@%";
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         kPlain.contains(letter);
}

void Add(std::string& command, std::string_view flag, std::string_view value) {
  command += std::format(" {} {}", flag, ShellWord(value));
}

void AddNetwork(std::string& command, const MattingConfig& config) {
  Add(command, "--model-type", Name(config.type));
  Add(command, "--model-backbone", Name(config.backbone));
  if (config.type == MattingType::kBase) return;
  Add(command, "--model-backbone-scale",
      std::format("{}", config.backbone_scale));
  Add(command, "--model-refine-mode", Name(config.refine_mode));
  if (config.refine_mode == RefineMode::kSampling)
    Add(command, "--model-refine-sample-pixels",
        std::to_string(config.refine_sample_pixels));
  if (config.refine_mode == RefineMode::kThresholding)
    Add(command, "--model-refine-threshold",
        std::format("{}", config.refine_threshold));
  Add(command, "--model-refine-kernel-size",
      std::to_string(config.refine_kernel_size));
  if (!config.refine_prevent_oversampling)
    Add(command, "--model-refine-prevent-oversampling", "false");
}

void AddCases(std::string& command, const CaseOptions& cases) {
  for (const std::string& name : cases.only) Add(command, "--case", name);
  for (const auto& [input, shape] : cases.shapes)
    Add(command, "--shape", std::format("{}={}", input, ToString(shape)));
  for (const auto& [name, size] : cases.dimensions)
    Add(command, "--dim", std::format("{}={}", name, size));
  if (!cases.generator.empty()) Add(command, "--generator", cases.generator);
  if (cases.seed != 0) Add(command, "--seed", std::to_string(cases.seed));
  for (const auto& [input, path] : cases.images)
    Add(command, "--image", std::format("{}={}", input, path.string()));
  for (const std::filesystem::path& path : cases.inputs)
    Add(command, "--inputs", path.string());
  if (cases.vary) command += " --vary";
}

// What is not as it is by default.
void AddVerdict(std::string& command, const ValidationOptions& options) {
  const Tolerance usual;
  if (options.tolerance.atol != usual.atol)
    Add(command, "--atol", std::format("{}", options.tolerance.atol));
  if (options.tolerance.rtol != usual.rtol)
    Add(command, "--rtol", std::format("{}", options.tolerance.rtol));
  for (const auto& [output, limit] : options.output_atol)
    Add(command, "--atol", std::format("{}={}", output, limit));
  for (const auto& [output, limit] : options.output_rtol)
    Add(command, "--rtol", std::format("{}={}", output, limit));
  if (options.criterion == Criterion::kNoise)
    Add(command, "--criterion", "noise");
  if (options.strict_ties) command += " --strict-ties";
}

void AddReference(std::string& command, const ReferenceOptions& reference) {
  if (!reference.torchscript.empty())
    Add(command, "--torchscript", reference.torchscript.string());
  for (const auto& [name, value] : reference.attributes)
    Add(command, "--attribute", std::format("{}={}", name, value));
  std::string names;
  for (const std::string& name : reference.output_names)
    names += (names.empty() ? "" : ",") + name;
  if (!names.empty()) Add(command, "--reference-outputs", names);
  if (!reference.recorded.empty())
    Add(command, "--recorded", reference.recorded.string());
  if (!reference.checkpoint.empty())
    Add(command, "--checkpoint", reference.checkpoint.string());
  if (reference.allow_missing_keys) command += " --allow-missing-keys";
  if (reference.synthetic_seed)
    Add(command, "--synthetic-seed", std::to_string(*reference.synthetic_seed));
}

// Where it runs, on which inputs, and what passes.
void AddRun(std::string& command, const ValidationOptions& options,
            std::string_view runtime) {
  Add(command, "--provider", options.runtime.provider);
  Add(command, "--optimization", options.runtime.optimization);
  if (runtime.contains('/') || runtime.contains(".so")) {
    Add(command, "--runtime-library", runtime);
  } else if (runtime != "system") {
    Add(command, "--runtime", runtime);
    // Where it may have been found.
    if (!options.reference.cache.empty())
      Add(command, "--cache", options.reference.cache.string());
  }
  if (options.runtime.threads > 0)
    Add(command, "--threads", std::to_string(options.runtime.threads));
  if (options.reference.kernels != "auto")
    Add(command, "--reference-kernels", options.reference.kernels);
  AddCases(command, options.cases);
  AddVerdict(command, options);
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, IsPlain))
    return std::string(text);
  std::string word = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      word += R"('\'')";
    } else {
      word += letter;
    }
  }
  return word + "'";
}

std::string ExportCommand(const MattingConfig& config,
                          const MattingExportOptions& graph,
                          const ValidationOptions& options,
                          std::string_view runtime) {
  std::string command = "onnx-parity export";
  AddNetwork(command, config);
  const ReferenceOptions& reference = options.reference;
  if (!reference.checkpoint.empty()) {
    Add(command, "--model-checkpoint", reference.checkpoint.string());
    if (reference.allow_missing_keys) command += " --allow-missing-keys";
  } else {
    Add(command, "--synthetic-seed",
        std::to_string(reference.synthetic_seed.value_or(0)));
  }
  if (config.type == MattingType::kRefine) {
    Add(command, "--model-refine-patch-crop-method", Name(graph.crop));
    Add(command, "--model-refine-patch-replace-method", Name(graph.replace));
  }
  Add(command, "--onnx-opset-version", std::to_string(graph.opset_version));
  Add(command, "--precision", Name(graph.precision));
  command += " --output model.onnx --validate";
  AddRun(command, options, runtime);
  return command;
}

std::string ValidateCommand(const ValidationOptions& options,
                            std::string_view runtime) {
  std::string command =
      "onnx-parity validate " + ShellWord(options.model.string());
  AddReference(command, options.reference);
  AddRun(command, options, runtime);
  return command;
}

}  // namespace parity
