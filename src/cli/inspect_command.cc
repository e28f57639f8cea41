#include "cli/inspect_command.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <format>
#include <functional>
#include <map>
#include <memory>
#include <print>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "formats/file_kind.h"
#include "formats/npy/npy_reader.h"
#include "formats/onnx/onnx_reader.h"
#include "formats/safetensors/safetensors_reader.h"
#include "formats/torch_checkpoint/checkpoint_reader.h"
#include "graph/graph_checks.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "report/text_table.h"
#include "validate/contract.h"

namespace parity {
namespace {

std::string Megabytes(std::uintmax_t bytes) {
  return std::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void PrintValues(std::string_view title, const std::vector<ValueInfo>& values) {
  std::println("{}", title);
  if (values.empty()) {
    std::println("  none");
    return;
  }
  TextTable table({"name", "type"});
  for (const ValueInfo& value : values)
    table.AddRow({value.name, ToString(value)});
  const std::vector<std::string> rows = table.FormatRows(2);
  for (std::size_t i = 1; i < rows.size(); ++i) std::println("{}", rows[i]);
}

void PrintMetadata(const std::map<std::string, std::string>& metadata) {
  if (metadata.empty()) return;
  std::println("metadata");
  for (const auto& [key, value] : metadata)
    std::println("  {}: {}", key, value);
}

std::string Opsets(const Model& model) {
  std::string text;
  for (const OpsetImport& import : model.opset_imports) {
    text += std::format("{}{} {}", text.empty() ? "" : ", ",
                        import.domain.empty() ? "ai.onnx" : import.domain,
                        import.version);
  }
  return text;
}

Status InspectOnnx(const std::filesystem::path& path) {
  PARITY_ASSIGN_OR_RETURN(const Model model,
                          ReadOnnxModel(path, {.load_external_data = false}));
  std::int64_t weights = 0;
  for (const Initializer& initializer : model.graph.initializers)
    weights += static_cast<std::int64_t>(initializer.tensor.bytes().size());
  std::println("{}: ONNX model, {}", path.string(),
               Megabytes(std::filesystem::file_size(path)));
  std::println("opset       {} (IR version {})", Opsets(model),
               model.ir_version);
  std::println("producer    {} {}",
               model.producer_name.empty() ? "not named" : model.producer_name,
               model.producer_version);
  std::println("graph       {}: {} nodes, {} initializers ({})",
               model.graph.name.empty() ? "not named" : model.graph.name,
               model.graph.nodes.size(), model.graph.initializers.size(),
               Megabytes(static_cast<std::uintmax_t>(weights)));
  PrintValues("inputs", model.graph.RequiredInputs());
  PrintValues("outputs", model.graph.outputs);
  std::println("operators");
  for (const auto& [op_type, count] : OpHistogram(model.graph))
    std::println("  {:>5}  {}", count, op_type);
  PrintMetadata(model.metadata);
  for (const std::string& warning : model.warnings) PrintWarning(warning);
  if (const Status checked = CheckStructure(model); !checked)
    PrintWarning(checked.error().message);
  return {};
}

void PrintTensors(const NamedTensors& tensors) {
  TextTable table({"name", "dtype", "shape"});
  std::int64_t elements = 0;
  std::size_t bytes = 0;
  for (const NamedTensor& entry : tensors) {
    table.AddRow({entry.name, std::string(Name(entry.tensor.dtype())),
                  ToString(entry.tensor.shape())});
    elements += entry.tensor.element_count();
    bytes += entry.tensor.bytes().size();
  }
  std::print("{}", table.Format(2));
  std::println("{} tensors, {} elements, {}", tensors.size(), elements,
               Megabytes(bytes));
}

Status InspectTensors(const std::filesystem::path& path, FileKind kind) {
  std::println("{}: {}, {}", path.string(), Describe(kind),
               Megabytes(std::filesystem::file_size(path)));
  if (kind == FileKind::kSafetensors) {
    PARITY_ASSIGN_OR_RETURN(const SafetensorsFile file,
                            ReadSafetensorsFile(path));
    PrintMetadata(file.metadata);
    PrintTensors(file.tensors);
    return {};
  }
  if (kind == FileKind::kNpz) {
    PARITY_ASSIGN_OR_RETURN(const NamedTensors tensors, ReadNpzFile(path));
    PrintTensors(tensors);
    return {};
  }
  PARITY_ASSIGN_OR_RETURN(const Checkpoint checkpoint, ReadCheckpoint(path));
  for (const std::string& note : checkpoint.notes)
    std::println("note: {}", note);
  PrintTensors(checkpoint.tensors);
  return {};
}

Result<ExitCode> RunInspect(const std::filesystem::path& path) {
  FileKind kind = FileKind::kUnknown;
  {
    PARITY_ASSIGN_OR_RETURN(const auto mapping, FileMapping::Open(path));
    kind = SniffFileKind(mapping->bytes());
  }
  switch (kind) {
    case FileKind::kOnnx:
      PARITY_RETURN_IF_ERROR(InspectOnnx(path));
      return ExitCode::kPassed;
    case FileKind::kSafetensors:
    case FileKind::kNpz:
    case FileKind::kTorchCheckpoint:
    case FileKind::kLegacyTorchCheckpoint:
      PARITY_RETURN_IF_ERROR(InspectTensors(path, kind));
      return ExitCode::kPassed;
    default:
      return Fail(
          ErrorCode::kUnsupported,
          std::format(
              "{} is {}; inspect reads ONNX models, PyTorch checkpoints, "
              "safetensors and npz files{}",
              path.string(), Describe(kind),
              kind == FileKind::kTorchScript
                  ? " (a TorchScript archive goes to validate --torchscript)"
                  : ""));
  }
}

}  // namespace

void AddInspectCommand(CLI::App& app, std::function<Result<ExitCode>()>& run) {
  CLI::App* const command = app.add_subcommand(
      "inspect", "Show what an ONNX file, a checkpoint or a tensor file holds");
  const auto path = std::make_shared<std::filesystem::path>();
  command->add_option("file", *path, "The file")->required()->type_name("FILE");
  command->callback(
      [path, &run] { run = [path] { return RunInspect(*path); }; });
}

}  // namespace parity
