#include "worker/worker_path.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <format>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "parity/error.h"

namespace parity {
namespace {

namespace fs = std::filesystem;

// The folder of the program or shared library that contains this function;
// empty when the system does not tell.
fs::path OwnFolder() {
  Dl_info info{};
  struct link_map* map = nullptr;
  fs::path file = "/proc/self/exe";
  if (::dladdr1(reinterpret_cast<const void*>(&OwnFolder), &info,
                reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && *map->l_name != '\0') {
    file = map->l_name;  // the main program's own name is empty here
  }
  std::error_code error;
  const fs::path resolved = fs::canonical(file, error);
  return error ? fs::path() : resolved.parent_path();
}

Result<fs::path> FindIn(const std::vector<fs::path>& folders,
                        std::string_view name, std::string_view advice) {
  std::string places;
  for (const fs::path& folder : folders) {
    fs::path program = (folder / name).lexically_normal();
    std::error_code error;
    if (fs::is_regular_file(program, error) &&
        ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
    places += std::format("{}{}", places.empty() ? "" : ", ",
                          program.parent_path().string());
  }
  return Fail(ErrorCode::kNotFound,
              std::format("the worker program {} is not there; looked in {}{}",
                          name, places, advice));
}

}  // namespace

Result<fs::path> FindWorkerFrom(const fs::path& folder, std::string_view name) {
  return FindIn({folder / "../libexec/onnx-parity", folder, folder / "workers",
                 folder / "../workers"},
                name,
                std::format(" ({} names another folder)", kWorkersVariable));
}

Result<fs::path> FindWorker(std::string_view name) {
  const char* const folder = std::getenv(kWorkersVariable);
  if (folder != nullptr && *folder != '\0')
    return FindIn({fs::path(folder)}, name,
                  std::format(" ({})", kWorkersVariable));
  return FindWorkerFrom(OwnFolder(), name);
}

}  // namespace parity
