#include "cli/runtime_choice.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/runtime_store.h"

namespace parity {

CLI::Option* AddRuntimeChoice(CLI::App& command,
                              std::vector<std::string>& names) {
  return command
      .add_option("--runtime", names,
                  "Version of ONNX Runtime that `runtime add` fetched, or "
                  "system; several, 1.30.0,1.20.1,system, are tried in turn")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->type_name("VERSION,…");
}

Result<std::vector<ChosenRuntime>> FindRuntimes(
    const std::vector<std::string>& names,
    const std::filesystem::path& cache_folder) {
  const RuntimeStore store(cache_folder);
  std::vector<ChosenRuntime> chosen;
  for (const std::string& name : names) {
    ChosenRuntime next{.name = name, .library = {}};
    if (name != "system") {
      PARITY_ASSIGN_OR_RETURN(next.library, store.Find(name));
    }
    chosen.push_back(std::move(next));
  }
  return chosen;
}

}  // namespace parity
