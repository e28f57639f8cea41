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

// The library of a version that `runtime add` put into `cache`, or else into
// the usual cache folder. Errors: those of RuntimeStore::Find.
[[nodiscard]] Result<std::filesystem::path> FindRuntimeLibrary(
    const std::string& version, const std::filesystem::path& cache);

// The libraries of several; "system" is the one that is used without the flag.
// Errors: those of RuntimeStore::Find.
[[nodiscard]] Result<std::vector<ChosenRuntime>> FindRuntimes(
    const std::vector<std::string>& names, const std::filesystem::path& cache);

// "system", and every version that is in one of the two folders, newest first.
[[nodiscard]] Result<std::vector<std::string>> AllRuntimes(
    const std::filesystem::path& cache);

}  // namespace parity

#endif  // PARITY_CLI_RUNTIME_CHOICE_H_
