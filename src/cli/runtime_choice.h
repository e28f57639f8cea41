// --runtime: which versions of ONNX Runtime a command uses.
#ifndef PARITY_CLI_RUNTIME_CHOICE_H_
#define PARITY_CLI_RUNTIME_CHOICE_H_

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "parity/error.h"

namespace parity {

struct ChosenRuntime {
  std::string name;               // as the user wrote it
  std::filesystem::path library;  // empty: the system's
};

// Registers the flag; its values go to `names`.
CLI::Option* AddRuntimeChoice(CLI::App& command,
                              std::vector<std::string>& names);

// Finds the libraries among those that `runtime add` put into `cache_folder`;
// "system" is the one that is used without the flag. Errors: those of
// RuntimeStore::Find.
[[nodiscard]] Result<std::vector<ChosenRuntime>> FindRuntimes(
    const std::vector<std::string>& names,
    const std::filesystem::path& cache_folder);

}  // namespace parity

#endif  // PARITY_CLI_RUNTIME_CHOICE_H_
