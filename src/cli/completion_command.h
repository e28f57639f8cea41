// onnx-parity completion SHELL, and the man page: both are written from the
// registered flags, so they cannot fall behind them.
#ifndef PARITY_CLI_COMPLETION_COMMAND_H_
#define PARITY_CLI_COMPLETION_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

// Registers `completion bash|zsh|fish`; when it is chosen, parsing sets `run`.
void AddCompletionCommand(CLI::App& app,
                          std::function<Result<ExitCode>()>& run);
// Registers the hidden `manual`, which prints the man page (troff).
void AddManualCommand(CLI::App& app, std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_COMPLETION_COMMAND_H_
