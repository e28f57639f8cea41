// onnx-parity export --output MODEL.onnx
#ifndef PARITY_CLI_EXPORT_COMMAND_H_
#define PARITY_CLI_EXPORT_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

// Registers the subcommand, whose flags are those of the published export
// script; when it is chosen, parsing sets `run`.
void AddExportCommand(CLI::App& app,
                      const std::vector<std::string>& command_line,
                      std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_EXPORT_COMMAND_H_
