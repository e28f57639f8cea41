#include "backend/torch/torch_script.h"

#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/serialization/import.h>

#include <filesystem>
#include <format>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend/torch/script_arguments.h"
#include "backend/torch/script_attributes.h"
#include "backend/torch/script_modules.h"
#include "backend/torch/script_outputs.h"
#include "backend/torch/script_precision.h"
#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/file_kind.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

struct TorchScript::Contents {
  torch::jit::Module module;
  std::optional<c10::ScalarType> precision;
};

TorchScript::TorchScript(std::unique_ptr<Contents> contents)
    : contents_(std::move(contents)) {}
TorchScript::TorchScript(TorchScript&&) noexcept = default;
TorchScript& TorchScript::operator=(TorchScript&&) noexcept = default;
TorchScript::~TorchScript() = default;

namespace {

// What libtorch says about another kind of file helps nobody.
Status CheckKind(const std::string& path) {
  PARITY_ASSIGN_OR_RETURN(const std::shared_ptr<const FileMapping> file,
                          FileMapping::Open(path));
  const FileKind kind = SniffFileKind(file->bytes());
  if (kind == FileKind::kTorchScript) return {};
  const bool checkpoint = kind == FileKind::kTorchCheckpoint ||
                          kind == FileKind::kLegacyTorchCheckpoint;
  return Fail(
      ErrorCode::kCorrupt,
      std::format("{}: is {}, not a TorchScript archive{}", path,
                  Describe(kind),
                  checkpoint ? "; --checkpoint takes it"
                             : " (made by torch.jit.script or trace and "
                               "saved with its save())"));
}

// Batch normalisation and dropout, as modules, functions or operators: all of
// them go by these names somewhere in the code.
bool HasTrainingBehaviour(const torch::jit::Module& module) {
  const std::shared_ptr<torch::jit::Graph> graph =
      module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  const std::string code = graph->toString(/*print_source_locations=*/false);
  return code.contains("batch_norm") || code.contains("dropout");
}

}  // namespace

Result<TorchScript> TorchScript::Open(const std::string& path) {
  PARITY_RETURN_IF_ERROR(CheckKind(path));
  // The optimising executor spends the first two runs on profiling, and most
  // models run once here.
  torch::jit::setGraphExecutorOptimize(false);
  auto contents = std::make_unique<Contents>(Contents{
      .module = torch::jit::load(path, c10::kCPU, /*load_debug_files=*/false),
      .precision = std::nullopt});
  if (!contents->module.find_method("forward")) {
    return Fail(ErrorCode::kUnsupported,
                std::format("{}: the module has no method forward", path));
  }
  return TorchScript(std::move(contents));
}

Status TorchScript::SetAttribute(const std::string& path,
                                 const std::string& value) {
  return SetScriptAttribute(contents_->module, path, value);
}

void TorchScript::Convert(c10::ScalarType type) {
  ConvertScript(contents_->module, type);
  contents_->precision = type;
}

std::vector<std::string> TorchScript::InputNames() const {
  return ScriptInputNames(contents_->module.get_method("forward"));
}

std::vector<std::string> TorchScript::OutputNames() const {
  const c10::FunctionSchema& schema =
      contents_->module.get_method("forward").function().getSchema();
  return schema.returns().size() == 1
             ? ScriptFieldNames(*schema.returns()[0].type())
             : std::vector<std::string>();
}

std::vector<std::string> TorchScript::Notes() const {
  if (!contents_->module.is_training() ||
      !HasTrainingBehaviour(contents_->module))
    return {};
  return {
      "the TorchScript module is in training mode, where batch normalisation "
      "uses the batch's own statistics and dropout is random; --attribute "
      "training=false puts it in evaluation mode"};
}

std::function<std::string()> TorchScript::ModuleLocator() const {
  const auto modules = std::make_shared<const ScriptModules>(contents_->module);
  return [modules] { return modules->Current(); };
}

Result<NamedTensors> TorchScript::Run(const NamedTensors& inputs) {
  const torch::jit::Method forward = contents_->module.get_method("forward");
  PARITY_ASSIGN_OR_RETURN(
      std::vector<c10::IValue> arguments,
      MatchScriptArguments(forward, inputs, contents_->precision));
  const DefaultPrecision default_precision(contents_->precision);
  const c10::IValue returned =
      torch::jit::Method(forward)(std::move(arguments));
  return FlattenScriptOutputs(returned);
}

}  // namespace parity
