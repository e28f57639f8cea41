#include "cli/sweep_output.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <format>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"
#include "report/sweep_csv.h"
#include "report/sweep_json.h"
#include "report/sweep_markdown.h"
#include "report/sweep_table.h"

namespace parity {
namespace {

std::string Json(const SweepResult& result,
                 const std::vector<std::string>& command_line) {
  return FormatSweepJson(result, command_line);
}

std::string Csv(const SweepResult& result,
                const std::vector<std::string>& /*command_line*/) {
  return FormatSweepCsv(result);
}

std::string Markdown(const SweepResult& result,
                     const std::vector<std::string>& /*command_line*/) {
  return FormatSweepMarkdown(result);
}

std::string Table(const SweepResult& result,
                  const std::vector<std::string>& /*command_line*/) {
  return FormatSweepTable(result, StdoutColors());
}

// Redirected into a file it can meet a full disk.
Status Print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0)
    return {};
  return Fail(ErrorCode::kIo, std::format("cannot write standard output: {}",
                                          std::strerror(errno)));
}

// Also of files that are yet to be written.
bool AreSame(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code missing;
  if (std::filesystem::equivalent(a, b, missing)) return true;
  const auto canonical = [](const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path),
                                             error);
  };
  return canonical(a) == canonical(b);
}

bool Passed(const SweepRow& row) { return row.verdict == Verdict::kPassed; }

}  // namespace

void AddSweepOutputFlags(CLI::App& command, SweepOutputFlags& flags) {
  const std::string group = "Result";
  command
      .add_option("--json", flags.json,
                  "Write the result as JSON; - for standard output, instead of "
                  "the table")
      ->group(group)
      ->type_name("FILE");
  command
      .add_option("--csv", flags.csv,
                  "Write the rows as comma-separated values; or -")
      ->group(group)
      ->type_name("FILE");
  command
      .add_option("--markdown", flags.markdown,
                  "Write the table as Markdown; or -")
      ->group(group)
      ->type_name("FILE");
  command
      .add_option("--require", flags.require,
                  "What must pass for exit code 0: any row, or all")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::IsMember({"any", "all"}))
      ->type_name("WHICH");
}

Status CheckNotOverwritten(const std::filesystem::path& journal,
                           const SweepOutputFlags& flags) {
  for (const std::filesystem::path& path :
       {flags.json, flags.csv, flags.markdown}) {
    if (path.empty() || path == "-" || !AreSame(path, journal)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{} is the journal; give the result another name",
                            path.string()));
  }
  return {};
}

Result<SweepOutput> SweepOutput::Open(const SweepOutputFlags& flags) {
  struct Wanted {
    const std::filesystem::path& path;
    Format format;
  };
  SweepOutput output(flags.require == "all");
  std::vector<std::filesystem::path> places;
  for (const auto& [path, format] :
       {Wanted{.path = flags.json, .format = &Json},
        Wanted{.path = flags.csv, .format = &Csv},
        Wanted{.path = flags.markdown, .format = &Markdown}}) {
    if (path.empty()) continue;
    const std::filesystem::path place =
        std::filesystem::absolute(path).lexically_normal();
    if (std::ranges::contains(places, place)) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("{} is given for two formats", path.string()));
    }
    places.push_back(place);
    if (path == "-") {
      output.standard_output_ = format;
      continue;
    }
    PARITY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
    output.files_.push_back({.file = std::move(file), .format = format});
  }
  if (output.standard_output_ == nullptr) output.standard_output_ = &Table;
  return output;
}

Result<ExitCode> SweepOutput::Write(
    const SweepResult& result, const std::vector<std::string>& command_line) {
  for (File& entry : files_) {
    PARITY_RETURN_IF_ERROR(
        entry.file.Write(entry.format(result, command_line)));
    PARITY_RETURN_IF_ERROR(entry.file.Commit());
  }
  PARITY_RETURN_IF_ERROR(Print(standard_output_(result, command_line)));
  // More parts than rows: this one has nothing that could fail.
  if (result.rows.empty() && result.row_count > 0 &&
      result.shard.count > result.row_count)
    return ExitCode::kPassed;
  const bool passed =
      all_must_pass_
          ? !result.rows.empty() && std::ranges::all_of(result.rows, Passed)
          : std::ranges::any_of(result.rows, Passed);
  return passed ? ExitCode::kPassed : ExitCode::kFailed;
}

}  // namespace parity
