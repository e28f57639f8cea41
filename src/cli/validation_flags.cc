#include "cli/validation_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "cli/interrupt.h"
#include "cli/runtime_choice.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {
namespace {

constexpr const char* kCasesGroup = "Cases";
constexpr const char* kVerdictGroup = "Verdict";
constexpr const char* kRuntimeGroup = "Runtime";

// The whole text as a number. Errors: kInvalidArgument.
template <class Number>
Result<Number> ParseNumber(std::string_view flag, std::string_view text) {
  Number number{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{}: '{}' is not a number", flag, text));
  }
  return number;
}

Result<double> ParseTolerance(std::string_view flag, std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(const double value, ParseNumber<double>(flag, text));
  if (!(value >= 0) || std::isinf(value)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format(
            "{}: '{}' is not a tolerance; give a finite number from 0 up", flag,
            text));
  }
  return value;
}

// "0.005" sets `general`, "pha=0.001" an entry of `per_output`.
Status ParseTolerances(std::string_view flag,
                       const std::vector<std::string>& texts, double& general,
                       std::map<std::string, double>& per_output) {
  for (const std::string& text : texts) {
    if (!text.contains('=')) {
      PARITY_ASSIGN_OR_RETURN(general, ParseTolerance(flag, text));
      continue;
    }
    PARITY_ASSIGN_OR_RETURN(const NameAndText entry,
                            SplitAssignment(flag, text));
    PARITY_ASSIGN_OR_RETURN(per_output[entry.name],
                            ParseTolerance(flag, entry.text));
  }
  return {};
}

Status ParseCases(const ValidationFlags& flags, CaseOptions& cases) {
  for (const std::string& text : flags.shapes) {
    PARITY_ASSIGN_OR_RETURN(const NameAndText entry,
                            SplitAssignment("--shape", text));
    PARITY_ASSIGN_OR_RETURN(cases.shapes[entry.name], ParseShape(entry.text));
  }
  for (const std::string& text : flags.dimensions) {
    PARITY_ASSIGN_OR_RETURN(const NameAndText entry,
                            SplitAssignment("--dim", text));
    PARITY_ASSIGN_OR_RETURN(const std::int64_t size,
                            ParseNumber<std::int64_t>("--dim", entry.text));
    if (size < 0)
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("--dim {}: a size cannot be negative", text));
    cases.dimensions[entry.name] = size;
  }
  for (const std::string& text : flags.images) {
    PARITY_ASSIGN_OR_RETURN(const NameAndText entry,
                            SplitAssignment("--image", text));
    cases.images[entry.name] = entry.text;
  }
  return {};
}

// "750MB", "2GB", "2GiB", plain bytes.
Result<std::int64_t> ParseBytes(std::string_view flag, std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0},
      {"KB", 1e3},     {"MB", 1e6},        {"GB", 1e9},
      {"K", 1024.0},   {"M", 1048576.0},   {"G", 1073741824.0},
      {"B", 1.0}};
  double unit = 1;
  std::string_view digits = text;
  for (const auto& [suffix, factor] : kUnits) {
    if (!digits.ends_with(suffix)) continue;
    digits.remove_suffix(suffix.size());
    unit = factor;
    break;
  }
  const Result<double> number = ParseNumber<double>(flag, digits);
  if (!number || !(*number > 0) || *number * unit > 1e18) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("{}: '{}' is not a size; write 750MB or 2GiB", flag, text));
  }
  return static_cast<std::int64_t>(*number * unit);
}

// Which library, which provider, how it is measured.
void AddRuntimeFlags(CLI::App& command, ValidationFlags& flags) {
  ValidationOptions& options = flags.options;
  const std::string runtime = kRuntimeGroup;
  CLI::Option* const library =
      command
          .add_option("--runtime-library", options.runtime.library,
                      "ONNX Runtime library to load instead of the system's")
          ->group(runtime)
          ->type_name("FILE");
  AddRuntimeChoice(command, flags.runtimes)->group(runtime)->excludes(library);
  command
      .add_option("--provider", options.runtime.provider, "Execution provider")
      ->group(runtime)
      ->capture_default_str()
      ->type_name("NAME");
  command
      .add_option("--optimization", options.runtime.optimization,
                  "Graph optimizations: disabled, basic, extended, all")
      ->group(runtime)
      ->capture_default_str()
      ->check(CLI::IsMember({"disabled", "basic", "extended", "all"}))
      ->type_name("LEVEL");
  command
      .add_option("--repeat", options.runtime.repeats,
                  "Measure: run the first case N times more, with ONNX "
                  "Runtime's own defaults and nothing else at work")
      ->group(runtime)
      ->check(CLI::Range(0, 1'000'000))
      ->type_name("N");
}

}  // namespace

Result<NameAndText> SplitAssignment(std::string_view flag,
                                    std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 ||
      equals + 1 == text.size()) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("{}: '{}' is not of the form name=value", flag, text));
  }
  return NameAndText{.name = std::string(text.substr(0, equals)),
                     .text = std::string(text.substr(equals + 1))};
}

void AddValidationFlags(CLI::App& command, ValidationFlags& flags) {
  AddCaseFlags(command, flags);
  command
      .add_option(
          "--shape", flags.shapes,
          "Shape of an input: src=1x3x720x1280; replaces the plan by one case")
      ->group(kCasesGroup)
      ->expected(1)
      ->take_all()
      ->type_name("INPUT=SHAPE");
  AddVerdictFlags(command, flags);
  command
      .add_option("--repro", flags.options.repro,
                  "Write the culprit as a model of its own with its inputs and "
                  "outputs, when there is one")
      ->group(kVerdictGroup)
      ->type_name("FOLDER");
  command.add_option("--json", flags.json, "Write the whole report as JSON")
      ->group(kVerdictGroup)
      ->type_name("FILE");
  AddRuntimeFlags(command, flags);
  AddLimitFlags(command, flags);
}

void AddCaseFlags(CLI::App& command, ValidationFlags& flags) {
  ValidationOptions& options = flags.options;
  const std::string cases = kCasesGroup;
  command
      .add_option("--case", options.cases.only,
                  "Run only this planned case: standard, image, saturated; may "
                  "be repeated")
      ->group(cases)
      ->expected(1)
      ->take_all()
      ->type_name("NAME");
  command
      .add_option("--dim", flags.dimensions,
                  "Size of a named dimension: height=720; replaces the plan by "
                  "one case")
      ->group(cases)
      ->expected(1)
      ->take_all()
      ->type_name("NAME=SIZE");
  command
      .add_option("--generator", options.cases.generator,
                  "Values: normal, uniform, scene, image, constant, saturated; "
                  "replaces the plan by one case")
      ->group(cases)
      ->type_name("NAME");
  command
      .add_option("--seed", options.cases.seed,
                  "Seed of the generated values; the same seed gives the same "
                  "bits anywhere")
      ->group(cases)
      ->capture_default_str()
      ->type_name("N");
  command
      .add_option("--inputs", options.cases.inputs,
                  "Tensors named as the inputs: .safetensors, .npz or a "
                  "test_data_set folder; a case each")
      ->group(cases)
      ->expected(1)
      ->take_all()
      ->type_name("FILE");
  command
      .add_option("--image", flags.images,
                  "Picture for an input: src=photo.png (PNG or JPEG, RGB in "
                  "[0,1]); replaces the plan by one case")
      ->group(cases)
      ->expected(1)
      ->take_all()
      ->type_name("INPUT=FILE");

  command
      .add_flag("--vary", options.cases.vary,
                "After the first case, also run variations of it: other sizes "
                "of the axes the model leaves open, batch 2 and 3, suspect "
                "values")
      ->group(cases);
}

void AddVerdictFlags(CLI::App& command, ValidationFlags& flags) {
  ValidationOptions& options = flags.options;
  const std::string verdict = kVerdictGroup;
  command
      .add_option("--criterion", flags.criterion,
                  "What passes: max-diff (every difference below its limit) or "
                  "noise (no difference beyond float rounding, measured "
                  "against float64)")
      ->group(verdict)
      ->capture_default_str()
      ->check(CLI::IsMember({"max-diff", "noise"}))
      ->type_name("NAME");
  command
      .add_option(
          "--explain", flags.explain,
          "Find the cause of differences: auto (of failures and of what "
          "is beyond rounding), always, never")
      ->group(verdict)
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN");
  command
      .add_flag("--strict-ties", options.strict_ties,
                "Fail when a selection between equal scores came out otherwise")
      ->group(verdict);
  command
      .add_option("--atol", flags.atol,
                  "Limit for |candidate - reference|, for all outputs (0.005) "
                  "or one: pha=0.001")
      ->group(verdict)
      ->expected(1)
      ->take_all()
      ->type_name("[OUTPUT=]X");
  command
      .add_option(
          "--rtol", flags.rtol,
          "Added to the limit, times |reference|; for all outputs (0) or one")
      ->group(verdict)
      ->expected(1)
      ->take_all()
      ->type_name("[OUTPUT=]X");
}

void AddLimitFlags(CLI::App& command, ValidationFlags& flags) {
  ValidationOptions& options = flags.options;
  const std::string runtime = kRuntimeGroup;
  command
      .add_option("--threads", options.runtime.threads,
                  "Threads of each side; 0 = one per core")
      ->group(runtime)
      ->capture_default_str()
      ->check(CLI::Range(0, 1024))
      ->type_name("N");
  command
      .add_option("--reference-kernels", options.reference.kernels,
                  "Convolutions of the reference: auto (oneDNN only where a "
                  "probe finds it right), onednn, native")
      ->group(runtime)
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "onednn", "native"}))
      ->type_name("KIND");
  command
      .add_option("--cache", options.reference.cache,
                  "Keep the reference's results in this folder and find them "
                  "again: PyTorch runs once for the same weights and inputs")
      ->group(runtime)
      ->type_name("FOLDER");
  command
      .add_option("--cache-size", flags.cache_size,
                  "What the folder of --cache may hold; beyond it, results "
                  "that were not used for longest go")
      ->group(runtime)
      ->capture_default_str()
      ->type_name("SIZE");
  command
      .add_option("--timeout", flags.timeout_seconds,
                  "Seconds a worker may take for one answer")
      ->group(runtime)
      ->capture_default_str()
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  command
      .add_option("--memory-limit", flags.memory_limit,
                  "Memory a worker may use: 2GB, 750MB")
      ->group(runtime)
      ->type_name("SIZE");
}

Result<ValidationOptions> ToOptions(const ValidationFlags& flags) {
  ValidationOptions options = flags.options;
  PARITY_RETURN_IF_ERROR(ParseTolerances(
      "--atol", flags.atol, options.tolerance.atol, options.output_atol));
  PARITY_RETURN_IF_ERROR(ParseTolerances(
      "--rtol", flags.rtol, options.tolerance.rtol, options.output_rtol));
  PARITY_RETURN_IF_ERROR(ParseCases(flags, options.cases));
  for (const std::string& text : flags.attributes) {
    PARITY_ASSIGN_OR_RETURN(NameAndText entry,
                            SplitAssignment("--attribute", text));
    options.reference.attributes[std::move(entry.name)] = std::move(entry.text);
  }
  constexpr double kLongest =
      1e9;  // seconds; keeps milliseconds within 64 bits
  options.limits.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(
      std::min(flags.timeout_seconds, kLongest) * 1000));
  if (!flags.memory_limit.empty()) {
    PARITY_ASSIGN_OR_RETURN(options.limits.memory_bytes,
                            ParseBytes("--memory-limit", flags.memory_limit));
  }
  PARITY_ASSIGN_OR_RETURN(options.reference.cache_bytes,
                          ParseBytes("--cache-size", flags.cache_size));
  options.criterion =
      flags.criterion == "noise" ? Criterion::kNoise : Criterion::kMaxDiff;
  options.explain = flags.explain == "always"  ? Explain::kAlways
                    : flags.explain == "never" ? Explain::kNever
                                               : Explain::kAuto;
  options.interrupted = &Interrupted();
  return options;
}

}  // namespace parity
