#include "cli/tool.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <format>
#include <functional>
#include <print>
#include <string>
#include <vector>

#include "base/version.h"
#include "cli/completion_command.h"
#include "cli/exit_code.h"
#include "cli/export_command.h"
#include "cli/inspect_command.h"
#include "cli/interrupt.h"
#include "cli/merge_command.h"
#include "cli/runtime_command.h"
#include "cli/sweep_command.h"
#include "cli/terminal.h"
#include "cli/validate_command.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr const char* kDescription =
    "Does this ONNX file compute what its PyTorch original computes?\n"
    "\n"
    "  onnx-parity export --output model.onnx --validate\n"
    "  onnx-parity validate model.onnx --checkpoint model.pth\n"
    "  onnx-parity validate model.onnx --torchscript model.pt --shape "
    "x=1x3x224x224\n"
    "  onnx-parity sweep --model-checkpoint model.pth\n"
    "  onnx-parity inspect model.onnx\n";

constexpr const char* kFooter =
    "Exit codes: 0 passed, 1 failed, 2 could not tell (usage, unreadable file, "
    "worker died), 130 interrupted.";

ExitCode Report(const Result<ExitCode>& outcome) {
  if (outcome) return *outcome;
  // After a signal every other error is only its consequence.
  if (Interrupted() || outcome.error().code == ErrorCode::kInterrupted) {
    const std::string& message = outcome.error().message;
    std::println(stderr, "onnx-parity: {}",
                 message.starts_with("interrupted") ? message : "interrupted");
    return ExitCode::kInterrupted;
  }
  PrintError(outcome.error().message);
  return ExitCode::kCouldNotTell;
}

// CLI11 reports help and version through the same exception as errors.
ExitCode ReportParseError(CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error), ExitCode::kPassed;
  PrintError(error.what());
  std::string commands;
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    commands += command->get_name() + " ";
  }
  std::println(stderr, "Run 'onnx-parity {}--help' for the options.", commands);
  return ExitCode::kCouldNotTell;
}

}  // namespace

ExitCode RunTool(int argc, char** argv) {
  InstallInterruptHandler();
  CLI::App app(kDescription, "onnx-parity");
  app.footer(kFooter);
  app.set_version_flag("--version", std::format("onnx-parity {}", kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(42);

  const std::vector<std::string> command_line(argv, argv + argc);
  // Each command registers its flags and leaves what to run when it is the one
  // chosen.
  std::function<Result<ExitCode>()> run;
  AddExportCommand(app, command_line, run);
  AddValidateCommand(app, command_line, run);
  AddSweepCommand(app, command_line, run);
  AddMergeCommand(app, command_line, run);
  AddInspectCommand(app, run);
  AddRuntimeCommand(app, run);
  AddCompletionCommand(app, run);
  AddManualCommand(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return ReportParseError(app, error);
  }
  return Report(run());
}

}  // namespace parity
