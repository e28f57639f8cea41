// `onnx-parity runtime add | list | remove`.
#ifndef PARITY_CLI_RUNTIME_COMMAND_H_
#define PARITY_CLI_RUNTIME_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

// Registers the subcommand; when it is the one chosen, `run` is set.
void AddRuntimeCommand(CLI::App& app, std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_RUNTIME_COMMAND_H_
