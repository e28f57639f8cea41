// The command line: parses it, runs one subcommand, turns its outcome into an
// exit code.
#ifndef PARITY_CLI_TOOL_H_
#define PARITY_CLI_TOOL_H_

#include "cli/exit_code.h"

namespace parity {

// Results go to standard output; errors, warnings and progress to standard
// error.
[[nodiscard]] ExitCode RunTool(int argc, char** argv);

}  // namespace parity

#endif  // PARITY_CLI_TOOL_H_
