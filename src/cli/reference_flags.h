// The flags that say what the PyTorch side is.
#ifndef PARITY_CLI_REFERENCE_FLAGS_H_
#define PARITY_CLI_REFERENCE_FLAGS_H_

#include <CLI/CLI.hpp>

#include "cli/validation_flags.h"

namespace parity {

// --checkpoint, --torchscript, --recorded and what belongs to them, and the
// --model-… flags of the built-in network.
void AddReferenceFlags(CLI::App& command, ValidationFlags& flags);

}  // namespace parity

#endif  // PARITY_CLI_REFERENCE_FLAGS_H_
