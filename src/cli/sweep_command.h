// `onnx-parity sweep`.
#ifndef PARITY_CLI_SWEEP_COMMAND_H_
#define PARITY_CLI_SWEEP_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

void AddSweepCommand(CLI::App& app,
                     const std::vector<std::string>& command_line,
                     std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_SWEEP_COMMAND_H_
