#include "cli/sweep_flags.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstddef>
#include <format>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/cache_folder.h"
#include "base/status_macros.h"
#include "cli/reference_flags.h"
#include "cli/runtime_choice.h"
#include "cli/validation_flags.h"
#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {
namespace {

struct AxisFlag {
  const char* name;
  std::vector<std::string> SweepAxes::* values;
  const char* help;
  const char* group;
};

constexpr const char* kExportGroup =
    "Axes of the export (a list, or all; without MODEL.onnx)";
constexpr const char* kRunGroup = "Axes of the run (a list, or all)";

constexpr std::array kAxisFlags = {
    AxisFlag{"--crop", &SweepAxes::crop,
             "How patches are cut out: unfold, roi_align, gather (default all)",
             kExportGroup},
    AxisFlag{"--replace", &SweepAxes::replace,
             "How patches are put back: scatter_nd, scatter_element (default "
             "all)",
             kExportGroup},
    AxisFlag{"--refine-mode", &SweepAxes::refine_mode,
             "full, sampling, thresholding", kExportGroup},
    AxisFlag{"--backbone", &SweepAxes::backbone,
             "mobilenetv2, resnet50, resnet101", kExportGroup},
    AxisFlag{"--backbone-scale", &SweepAxes::backbone_scale,
             "Up to 0.5; all: 0.125, 0.25, 0.5", kExportGroup},
    AxisFlag{"--kernel-size", &SweepAxes::kernel_size,
             "Of the refiner's convolutions: 1, 3", kExportGroup},
    AxisFlag{"--opset", &SweepAxes::opset, "11 to 20 (default 12)",
             kExportGroup},
    AxisFlag{"--precision", &SweepAxes::precision, "float32 (default), float16",
             kExportGroup},
    AxisFlag{"--provider", &SweepAxes::provider,
             "Execution providers: cpu, dnnl, … (default all that the runtime "
             "has)",
             kRunGroup},
    AxisFlag{"--optimization", &SweepAxes::optimization,
             "Graph optimizations: disabled, basic, extended, all (default the "
             "level all; 'all' alone: every level)",
             kRunGroup},
    AxisFlag{"--runtime,--runtime-library", &SweepAxes::runtime,
             "ONNX Runtimes: system (default), versions that 'runtime add' "
             "brought, paths of libraries",
             kRunGroup},
    AxisFlag{"--shape", &SweepAxes::shape,
             "Shapes: 1x3x720x1280 for every input, or "
             "src=1x3x8x8+bgr=1x3x8x8; all: 720p, 1080p, 4K (network)",
             kRunGroup},
};

void AddAxisFlags(CLI::App& command, SweepAxes& axes) {
  for (const AxisFlag& flag : kAxisFlags) {
    command.add_option(flag.name, axes.*flag.values, flag.help)
        ->group(flag.group)
        ->delimiter(',')
        ->expected(1)
        ->take_all()
        ->type_name("VALUE,…");
  }
}

}  // namespace

void AddSweepFlags(CLI::App& command, SweepFlags& flags) {
  command
      .add_option("model", flags.validation.options.model,
                  "An ONNX file; none: the built-in network, exported for "
                  "every combination")
      ->type_name("MODEL.onnx");
  AddAxisFlags(command, flags.axes);
  const std::string group = "Sweep";
  command
      .add_option("--repeat", flags.repeats,
                  "Steady runs of each combination, of which the median counts")
      ->group(group)
      ->capture_default_str()
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  CLI::Option* const journal =
      command
          .add_option("--journal", flags.journal,
                      "File for finished rows, from which the same command "
                      "goes on (default: in the cache, until it is complete)")
          ->group(group)
          ->type_name("FILE.jsonl");
  command
      .add_option("--shard", flags.shard,
                  "Only part K of N of the rows; 'merge' joins the journals")
      ->group(group)
      ->needs(journal)
      ->type_name("K/N");
  command
      .add_flag("--restart", flags.restart,
                "Forget the rows that the journal has, and measure them again")
      ->group(group);
  AddReferenceFlags(command, flags.validation);
  AddCaseFlags(command, flags.validation);
  AddVerdictFlags(command, flags.validation);
  AddLimitFlags(command, flags.validation);
}

Result<Shard> ParseShard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const std::string_view view = text;
  const std::size_t slash = view.find('/');
  const auto number = [](std::string_view digits, std::size_t& value) {
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (slash == std::string_view::npos ||
      !number(view.substr(0, slash), shard.index) ||
      !number(view.substr(slash + 1), shard.count) || shard.index == 0 ||
      shard.index > shard.count) {
    return Fail(
        ErrorCode::kInvalidArgument,
        std::format("--shard: '{}' is not K/N with K from 1 to N", text));
  }
  return shard;
}

Result<SweepOptions> ToSweepOptions(const SweepFlags& flags) {
  SweepOptions options;
  PARITY_ASSIGN_OR_RETURN(options.validation, ToOptions(flags.validation));
  options.axes = flags.axes;
  options.repeats = flags.repeats;
  PARITY_ASSIGN_OR_RETURN(options.shard, ParseShard(flags.shard));
  options.journal = flags.journal;
  options.restart = flags.restart;
  options.cache = options.validation.reference.cache;
  if (options.cache.empty()) {
    PARITY_ASSIGN_OR_RETURN(options.cache, DefaultCacheFolder());
  }
  if (options.axes.runtime == std::vector<std::string>{"all"}) {
    PARITY_ASSIGN_OR_RETURN(options.axes.runtime, AllRuntimes(options.cache));
  }
  options.find_runtime = [cache = options.cache](std::string_view version) {
    return FindRuntimeLibrary(std::string(version), cache);
  };
  return options;
}

}  // namespace parity
