#include "cli/sweep_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <format>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/sweep_flags.h"
#include "cli/sweep_output.h"
#include "cli/terminal.h"
#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {
namespace {

std::string RemainingText(double seconds) {
  if (seconds < 90) return std::format("about {:.0f} s left", seconds);
  if (seconds < 5400) return std::format("about {:.0f} min left", seconds / 60);
  return std::format("about {:.1f} h left", seconds / 3600);
}

std::string ProgressText(const SweepProgress& progress) {
  std::string text = progress.text;
  if (progress.total == 0) return text;
  text =
      std::format("row {} of {}: {}", progress.done + 1, progress.total, text);
  if (progress.remaining_seconds)
    text += std::format(" ({})", RemainingText(*progress.remaining_seconds));
  return text;
}

Result<ExitCode> RunSweep(const SweepFlags& flags,
                          const SweepOutputFlags& output_flags,
                          const std::vector<std::string>& command_line) {
  PARITY_ASSIGN_OR_RETURN(SweepOptions options, ToSweepOptions(flags));
  if (!flags.journal.empty())
    PARITY_RETURN_IF_ERROR(CheckNotOverwritten(flags.journal, output_flags));
  PARITY_ASSIGN_OR_RETURN(SweepOutput output, SweepOutput::Open(output_flags));
  ProgressLine progress;
  options.progress = [&](const SweepProgress& now) {
    progress.Show(ProgressText(now));
  };
  const Result<SweepResult> result = Sweep(options);
  progress.Clear();
  PARITY_RETURN_IF_ERROR(result.transform([](const auto&) {}));
  PARITY_ASSIGN_OR_RETURN(const ExitCode exit_code,
                          output.Write(*result, command_line));
  if (flags.journal.empty()) {
    std::error_code ignored;
    std::filesystem::remove(result->journal, ignored);
  }
  return exit_code;
}

}  // namespace

void AddSweepCommand(CLI::App& app,
                     const std::vector<std::string>& command_line,
                     std::function<Result<ExitCode>()>& run) {
  CLI::App* const command = app.add_subcommand(
      "sweep",
      "Validate and measure every combination of patch methods, refine modes, "
      "providers, …, and say which to ship");
  const auto flags = std::make_shared<SweepFlags>();
  const auto output = std::make_shared<SweepOutputFlags>();
  AddSweepFlags(*command, *flags);
  AddSweepOutputFlags(*command, *output);
  command->callback([flags, output, &command_line, &run] {
    run = [flags, output, &command_line] {
      return RunSweep(*flags, *output, command_line);
    };
  });
}

}  // namespace parity
