#include "cli/merge_command.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/sweep_output.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/merge_sweeps.h"

namespace parity {
namespace {

struct MergeFlags {
  std::vector<std::filesystem::path> journals;
  bool allow_missing = false;
  SweepOutputFlags output;
};

Result<ExitCode> RunMerge(const MergeFlags& flags,
                          const std::vector<std::string>& command_line) {
  for (const std::filesystem::path& journal : flags.journals)
    PARITY_RETURN_IF_ERROR(CheckNotOverwritten(journal, flags.output));
  PARITY_ASSIGN_OR_RETURN(SweepOutput output, SweepOutput::Open(flags.output));
  // Missing rows are allowed here, so that those that are there are shown; what
  // they amount to is said after that.
  PARITY_ASSIGN_OR_RETURN(const SweepResult result,
                          MergeSweeps(flags.journals, true));
  PARITY_ASSIGN_OR_RETURN(const ExitCode code,
                          output.Write(result, command_line));
  if (!flags.allow_missing) PARITY_RETURN_IF_ERROR(CheckComplete(result));
  return code;
}

}  // namespace

void AddMergeCommand(CLI::App& app,
                     const std::vector<std::string>& command_line,
                     std::function<Result<ExitCode>()>& run) {
  CLI::App* const command = app.add_subcommand(
      "merge", "Put the journals of a sweep's parts together");
  const auto flags = std::make_shared<MergeFlags>();
  command
      ->add_option("journals", flags->journals,
                   "What sweep --journal wrote, one for each part")
      ->required()
      ->type_name("FILE.jsonl");
  command->add_flag("--allow-missing", flags->allow_missing,
                    "Go on when rows of the sweep are in none of them");
  AddSweepOutputFlags(*command, flags->output);
  command->callback([flags, &command_line, &run] {
    run = [flags, &command_line] { return RunMerge(*flags, command_line); };
  });
}

}  // namespace parity
