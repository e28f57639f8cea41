// Where the result of a sweep goes, shared by `sweep` and `merge`.
#ifndef PARITY_CLI_SWEEP_OUTPUT_H_
#define PARITY_CLI_SWEEP_OUTPUT_H_

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file_mapping.h"
#include "cli/exit_code.h"
#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

struct SweepOutputFlags {
  std::filesystem::path json;  // "-": standard output; empty: none
  std::filesystem::path csv;
  std::filesystem::path markdown;
  std::string require = "any";  // or "all"
};

void AddSweepOutputFlags(CLI::App& command, SweepOutputFlags& flags);

// Errors: kInvalidArgument when one of the files is this journal, which it
// would replace.
[[nodiscard]] Status CheckNotOverwritten(const std::filesystem::path& journal,
                                         const SweepOutputFlags& flags);

// The files of the flags, open from before the sweep on: a bad path costs a
// second, not an hour.
class SweepOutput {
 public:
  // Errors: kInvalidArgument for two formats in one place; kIo.
  [[nodiscard]] static Result<SweepOutput> Open(const SweepOutputFlags& flags);

  // Writes every file, and the table to standard output unless a file went
  // there. The exit code: whether a row passed, or all did, as required.
  [[nodiscard]] Result<ExitCode> Write(
      const SweepResult& result, const std::vector<std::string>& command_line);

 private:
  using Format = std::string (*)(const SweepResult&,
                                 const std::vector<std::string>&);
  struct File {
    AtomicFile file;
    Format format;
  };

  explicit SweepOutput(bool all_must_pass) : all_must_pass_(all_must_pass) {}
  bool all_must_pass_;
  Format standard_output_ = nullptr;
  std::vector<File> files_;
};

}  // namespace parity

#endif  // PARITY_CLI_SWEEP_OUTPUT_H_
