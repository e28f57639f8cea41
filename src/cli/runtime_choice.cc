#include "cli/runtime_choice.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/cache_folder.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "runtimes/runtime_store.h"
#include "runtimes/stored_runtime.h"

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

Result<std::filesystem::path> FindRuntimeLibrary(
    const std::string& version, const std::filesystem::path& cache) {
  PARITY_ASSIGN_OR_RETURN(const std::filesystem::path usual,
                          DefaultCacheFolder());
  if (!cache.empty() && cache != usual) {
    auto found = RuntimeStore(cache).Find(version);
    if (found || found.error().code != ErrorCode::kNotFound) return found;
  }
  return RuntimeStore(usual).Find(version);
}

Result<std::vector<ChosenRuntime>> FindRuntimes(
    const std::vector<std::string>& names, const std::filesystem::path& cache) {
  std::vector<ChosenRuntime> chosen;
  for (const std::string& name : names) {
    ChosenRuntime next{.name = name, .library = {}};
    if (name != "system") {
      PARITY_ASSIGN_OR_RETURN(next.library, FindRuntimeLibrary(name, cache));
    }
    chosen.push_back(std::move(next));
  }
  return chosen;
}

Result<std::vector<std::string>> AllRuntimes(
    const std::filesystem::path& cache) {
  std::vector<std::string> names = {"system"};
  PARITY_ASSIGN_OR_RETURN(const std::filesystem::path usual,
                          DefaultCacheFolder());
  for (const std::filesystem::path& folder : {cache, usual}) {
    if (folder.empty()) continue;
    PARITY_ASSIGN_OR_RETURN(const std::vector<StoredRuntime> runtimes,
                            RuntimeStore(folder).List());
    for (const StoredRuntime& runtime : runtimes) {
      if (!std::ranges::contains(names, runtime.version))
        names.push_back(runtime.version);
    }
  }
  return names;
}

}  // namespace parity
