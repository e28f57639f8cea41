// onnx-parity merge A.jsonl B.jsonl …
#ifndef PARITY_CLI_MERGE_COMMAND_H_
#define PARITY_CLI_MERGE_COMMAND_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {

// Registers the subcommand; when it is chosen, parsing sets `run`.
void AddMergeCommand(CLI::App& app,
                     const std::vector<std::string>& command_line,
                     std::function<Result<ExitCode>()>& run);

}  // namespace parity

#endif  // PARITY_CLI_MERGE_COMMAND_H_
