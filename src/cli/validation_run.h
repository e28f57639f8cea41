// Runs a validation for the user: with one runtime, or several in turn.
#ifndef PARITY_CLI_VALIDATION_RUN_H_
#define PARITY_CLI_VALIDATION_RUN_H_

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/validation_flags.h"
#include "parity/error.h"

namespace parity {

// Validates, prints the report, writes the JSON file. The JSON file is opened,
// and the runtimes are found, before anything runs. Of several runtimes the
// worst outcome counts: one that failed, then one that could not be judged.
[[nodiscard]] Result<ExitCode> RunValidation(
    const ValidationFlags& flags, const std::vector<std::string>& command_line);

}  // namespace parity

#endif  // PARITY_CLI_VALIDATION_RUN_H_
