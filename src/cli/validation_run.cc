#include "cli/validation_run.h"

#include <algorithm>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <format>
#include <optional>
#include <print>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "cli/exit_code.h"
#include "cli/interrupt.h"
#include "cli/runtime_choice.h"
#include "cli/terminal.h"
#include "cli/validation_flags.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "report/console_report.h"
#include "report/json_report.h"
#include "report/text_table.h"

namespace parity {
namespace {

ExitCode ExitCodeOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return ExitCode::kPassed;
    case Verdict::kFailed:
      return ExitCode::kFailed;
    case Verdict::kUndecided:
      break;
  }
  return ExitCode::kCouldNotTell;
}

struct Outcome {
  Result<ExitCode> exit_code;
  std::string json;
};

// One validation, printed.
Outcome RunOnce(ValidationOptions options,
                const std::vector<std::string>& command_line) {
  ProgressLine progress;
  options.progress = [&](std::string_view text) { progress.Show(text); };
  const Result<ValidationResult> result = Validate(options);
  progress.Clear();
  if (!result) {
    return {.exit_code = std::unexpected(result.error()),
            .json = FormatJsonError(result.error(), options, command_line)};
  }
  std::string json = FormatJsonReport(*result, options, command_line);
  if (result->error) {
    // What could be learnt about it, then the error as any other.
    std::print(stderr, "{}", FormatFindings(result->findings, StderrColors()));
    return {.exit_code = std::unexpected(*result->error),
            .json = std::move(json)};
  }
  std::print("{}", FormatConsoleReport(*result, StdoutColors()));
  return {.exit_code = ExitCodeOf(result->verdict()), .json = std::move(json)};
}

std::string_view Describe(ExitCode code) {
  switch (code) {
    case ExitCode::kPassed:
      return "passed";
    case ExitCode::kFailed:
      return "FAILED";
    default:
      return "could not tell";
  }
}

// A failure is certain, whatever else could not be told.
ExitCode Worst(const std::vector<ExitCode>& codes) {
  if (std::ranges::contains(codes, ExitCode::kFailed)) return ExitCode::kFailed;
  return std::ranges::all_of(
             codes, [](ExitCode code) { return code == ExitCode::kPassed; })
             ? ExitCode::kPassed
             : ExitCode::kCouldNotTell;
}

// Each runtime with a heading, then what came of them.
Outcome RunEach(const std::vector<ChosenRuntime>& runtimes,
                const ValidationOptions& options,
                const std::vector<std::string>& command_line) {
  std::vector<ExitCode> codes;
  std::vector<RuntimeReport> reports;
  TextTable table({"runtime", "verdict"});
  for (const ChosenRuntime& runtime : runtimes) {
    ValidationOptions own = options;
    own.runtime.library = runtime.library;
    std::println("== runtime {} ==", runtime.name);
    // The order of both outputs in one file.
    std::fflush(stdout);
    Outcome outcome = RunOnce(std::move(own), command_line);
    if (Interrupted() && !outcome.exit_code) return outcome;
    if (!outcome.exit_code) PrintError(outcome.exit_code.error().message);
    codes.push_back(outcome.exit_code.value_or(ExitCode::kCouldNotTell));
    reports.push_back(
        {.runtime = runtime.name, .report = std::move(outcome.json)});
    table.AddRow({runtime.name, std::string(Describe(codes.back()))});
    std::println("");
  }
  std::print("{}", table.Format(0));
  return {.exit_code = Worst(codes), .json = FormatJsonRuntimes(reports)};
}

// None: the library that the options name.
Result<std::vector<ChosenRuntime>> Runtimes(const ValidationFlags& flags) {
  if (flags.runtimes.empty()) return {};
  if (flags.runtimes.size() > 1 && !flags.options.repro.empty()) {
    return Fail(ErrorCode::kInvalidArgument,
                "--repro: one folder cannot hold the culprits of several "
                "runtimes; name one --runtime");
  }
  return FindRuntimes(flags.runtimes, flags.options.reference.cache);
}

}  // namespace

Result<ExitCode> RunValidation(const ValidationFlags& flags,
                               const std::vector<std::string>& command_line) {
  PARITY_ASSIGN_OR_RETURN(ValidationOptions options, ToOptions(flags));
  PARITY_ASSIGN_OR_RETURN(const std::vector<ChosenRuntime> runtimes,
                          Runtimes(flags));
  // Opened before the run: a bad path costs a second, not an hour.
  std::optional<AtomicFile> json;
  if (!flags.json.empty()) {
    PARITY_ASSIGN_OR_RETURN(AtomicFile created, AtomicFile::Create(flags.json));
    json.emplace(std::move(created));
  }
  if (runtimes.size() == 1) options.runtime.library = runtimes.front().library;
  const Outcome outcome = runtimes.size() > 1
                              ? RunEach(runtimes, options, command_line)
                              : RunOnce(std::move(options), command_line);
  if (!outcome.exit_code && Interrupted()) return outcome.exit_code;
  if (json) {
    PARITY_RETURN_IF_ERROR(json->Write(outcome.json));
    PARITY_RETURN_IF_ERROR(json->Commit());
  }
  return outcome.exit_code;
}

}  // namespace parity
