#include "cli/runtime_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <functional>
#include <memory>
#include <print>
#include <string>
#include <string_view>
#include <vector>

#include "base/cache_folder.h"
#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "parity/error.h"
#include "report/text_table.h"
#include "runtimes/runtime_store.h"
#include "runtimes/stored_runtime.h"

namespace parity {
namespace {

struct RuntimeFlags {
  std::vector<std::string> versions;
  std::filesystem::path package;
  std::string integrity;
  std::filesystem::path cache;
  bool json = false;
};

Result<RuntimeStore> OpenStore(const RuntimeFlags& flags) {
  if (!flags.cache.empty()) return RuntimeStore(flags.cache);
  PARITY_ASSIGN_OR_RETURN(const std::filesystem::path folder,
                          DefaultCacheFolder());
  return RuntimeStore(folder);
}

std::string Megabytes(std::int64_t bytes) {
  return std::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

Status AddOne(const RuntimeStore& store, const std::string& version,
              const RuntimeFlags& flags) {
  ProgressLine progress;
  const Result<AddedRuntime> added = store.Add(
      {.version = version,
       .package = flags.package,
       .integrity = flags.integrity,
       .progress = [&](std::string_view text) { progress.Show(text); },
       .interrupted = &Interrupted()});
  progress.Clear();
  if (!added) return std::unexpected(added.error());
  for (const std::string& note : added->notes) PrintWarning(note);
  std::println("ONNX Runtime {} {}: {}, {}", added->runtime.version,
               added->was_there ? "is there already" : "added",
               Megabytes(added->runtime.library_bytes),
               added->runtime.library().string());
  return {};
}

// Each version, whatever becomes of the others.
Result<ExitCode> ForEach(
    const std::vector<std::string>& versions,
    const std::function<Status(const std::string&)>& apply) {
  ExitCode code = ExitCode::kPassed;
  for (const std::string& version : versions) {
    const Status status = apply(version);
    if (status) continue;
    if (Interrupted() || versions.size() == 1)
      return std::unexpected(status.error());
    PrintError(status.error().message);
    code = ExitCode::kCouldNotTell;
  }
  return code;
}

Result<ExitCode> RunAdd(const RuntimeFlags& flags) {
  std::vector<std::string> versions = flags.versions;
  if (flags.package.empty() && versions.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "runtime add: name a version, such as 1.20.1 or latest, or "
                "give a --package");
  }
  if (!flags.package.empty() && versions.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "--package: one file cannot be several versions");
  }
  // A package knows its version.
  if (versions.empty()) versions.emplace_back();
  PARITY_ASSIGN_OR_RETURN(const RuntimeStore store, OpenStore(flags));
  return ForEach(versions, [&](const std::string& version) {
    return AddOne(store, version, flags);
  });
}

Result<ExitCode> RunList(const RuntimeFlags& flags) {
  PARITY_ASSIGN_OR_RETURN(const RuntimeStore store, OpenStore(flags));
  PARITY_ASSIGN_OR_RETURN(const std::vector<StoredRuntime> runtimes,
                          store.List());
  if (flags.json) {
    std::print("{}", FormatJsonList(runtimes));
    return ExitCode::kPassed;
  }
  if (runtimes.empty()) {
    std::println(
        "no runtimes in {}; `onnx-parity runtime add VERSION` fetches "
        "one",
        store.folder().string());
    return ExitCode::kPassed;
  }
  TextTable table({"version", "size", "added", "library"});
  for (const StoredRuntime& runtime : runtimes) {
    table.AddRow({runtime.version, Megabytes(runtime.library_bytes),
                  runtime.added, runtime.library().string()});
  }
  std::print("{}", table.Format(0));
  for (const StoredRuntime& runtime : runtimes) {
    if (!runtime.problem.empty())
      PrintWarning(
          std::format("{}: {}; `onnx-parity runtime add {}` fetches "
                      "it anew",
                      runtime.version, runtime.problem, runtime.version));
  }
  return ExitCode::kPassed;
}

Result<ExitCode> RunRemove(const RuntimeFlags& flags) {
  PARITY_ASSIGN_OR_RETURN(const RuntimeStore store, OpenStore(flags));
  return ForEach(flags.versions, [&](const std::string& version) -> Status {
    PARITY_RETURN_IF_ERROR(store.Remove(version, &Interrupted()));
    std::println("ONNX Runtime {} removed", version);
    return {};
  });
}

void AddCacheFlag(CLI::App& command, RuntimeFlags& flags) {
  command
      .add_option("--cache", flags.cache,
                  "Cache folder, instead of ~/.cache/onnx-parity")
      ->type_name("FOLDER");
}

}  // namespace

void AddRuntimeCommand(CLI::App& app, std::function<Result<ExitCode>()>& run) {
  CLI::App* const command = app.add_subcommand(
      "runtime", "Other versions of ONNX Runtime, for --runtime");
  command->require_subcommand(1);
  const auto flags = std::make_shared<RuntimeFlags>();

  CLI::App* const add = command->add_subcommand(
      "add", "Fetch official builds, with the npm client");
  add->add_option("version", flags->versions,
                  "Versions, such as 1.20.1 or latest")
      ->type_name("VERSION");
  CLI::Option* const package =
      add->add_option("--package", flags->package,
                      "The package onnxruntime-node as a .tgz file, instead of "
                      "fetching it")
          ->type_name("FILE");
  add->add_option("--integrity", flags->integrity,
                  "What the package's bytes must be: sha512-<base64>")
      ->needs(package)
      ->type_name("TEXT");
  AddCacheFlag(*add, *flags);
  add->callback([flags, &run] { run = [flags] { return RunAdd(*flags); }; });

  CLI::App* const list =
      command->add_subcommand("list", "Show those that were added");
  list->add_flag("--json", flags->json, "As JSON");
  AddCacheFlag(*list, *flags);
  list->callback([flags, &run] { run = [flags] { return RunList(*flags); }; });

  CLI::App* const remove =
      command->add_subcommand("remove", "Delete some of them");
  remove->add_option("version", flags->versions, "Versions, such as 1.20.1")
      ->required()
      ->type_name("VERSION");
  AddCacheFlag(*remove, *flags);
  remove->callback(
      [flags, &run] { run = [flags] { return RunRemove(*flags); }; });
}

}  // namespace parity
