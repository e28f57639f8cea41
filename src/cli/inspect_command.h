// onnx-parity inspect FILE
#ifndef PARITY_CLI_INSPECT_COMMAND_H_
#define PARITY_CLI_INSPECT_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

// Registers the subcommand; when it is chosen, parsing sets `run`.
void AddInspectCommand(CLI::App& app, std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_INSPECT_COMMAND_H_
