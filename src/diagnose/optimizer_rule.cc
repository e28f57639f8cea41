#include <cstddef>
#include <format>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/optimizer_names.h"
#include "diagnose/investigation.h"
#include "diagnose/rules.h"
#include "parity/diagnosis.h"
#include "tensor/value_sketch.h"

namespace parity {
namespace {

struct Level {
  std::string_view name;
  std::span<const std::string_view> optimizers;
};

std::vector<Level> LevelsUpTo(std::string_view level) {
  std::vector<Level> levels = {{"basic", kBasicOptimizers}};
  if (level == "basic") return levels;
  levels.push_back({"extended", kExtendedOptimizers});
  if (level == "extended") return levels;
  levels.push_back({"all", kLayoutOptimizers});
  return levels;
}

class OptimizerSearch {
 public:
  explicit OptimizerSearch(const Investigation& investigation)
      : investigation_(investigation) {}

  // Whether the outputs are right with these settings; nothing runs = not.
  bool IsRight(const std::string& optimization,
               std::vector<std::string> disabled) {
    LoadRequest load = investigation_.lab().options().candidate;
    load.optimization = optimization;
    load.disabled_optimizers = std::move(disabled);
    const auto run = investigation_.lab().CandidateVariant(
        load, {.inputs = investigation_.subject().request.inputs});
    if (!run) return false;
    const Agreement agreement = investigation_.CompareWithTruth(run->outputs);
    max_error_ = agreement.max_error;
    return agreement.agrees;
  }
  [[nodiscard]] double max_error() const { return max_error_; }

  // The one optimizer without which the outputs are right: halves of the list
  // are disabled in turn. Nothing when it takes several.
  std::optional<std::string> Bisect(const std::string& optimization,
                                    std::span<const std::string_view> names) {
    while (names.size() > 1) {
      const auto half = names.first(names.size() / 2);
      names = IsRight(optimization, {half.begin(), half.end()})
                  ? half
                  : names.subspan(names.size() / 2);
    }
    if (names.empty() || !IsRight(optimization, {std::string(names.front())}))
      return std::nullopt;
    return std::string(names.front());
  }

 private:
  const Investigation& investigation_;
  double max_error_ = 0;
};

// The first value that is wrong when it alone is tapped, so that the rest stays
// fused: found by bisection over the order of the graph, since what follows a
// wrong value is mostly wrong, too.
std::string FirstWrongValue(const Investigation& investigation,
                            const std::string& optimization) {
  if (investigation.graph64() == nullptr) return "";
  const std::vector<TracedValue>& trace = investigation.graph64()->trace;
  const auto is_wrong = [&](const TracedValue& value) {
    LoadRequest load = investigation.lab().options().candidate;
    load.optimization = optimization;
    load.taps = {value.name};
    const auto run = investigation.lab().CandidateVariant(
        load, {.inputs = investigation.subject().request.inputs,
               .output_names = {value.name}});
    constexpr double kWrong = 1e-4;
    return run && RelativeDistance(SketchOf(run->outputs[0].tensor.view()),
                                   value.sketch) > kWrong;
  };
  std::size_t right = 0;
  std::size_t wrong = trace.size();
  while (right < wrong) {
    const std::size_t middle = (right + wrong) / 2;
    if (is_wrong(trace[middle])) {
      wrong = middle;
    } else {
      right = middle + 1;
    }
  }
  return right < trace.size() ? NodeLabel(trace[right]) : "";
}

}  // namespace

std::optional<Finding> ExamineOptimizer(const Investigation& investigation) {
  const LoadRequest& candidate = investigation.lab().options().candidate;
  if (candidate.optimization == "disabled") return std::nullopt;
  investigation.lab().Progress("explaining: graph optimizations off");
  OptimizerSearch search(investigation);
  if (!search.IsRight("disabled", {})) return std::nullopt;
  Finding finding =
      investigation.MakeFinding(Cause::kOptimizer, Confidence::kCertain, "");
  finding.evidence.push_back({.name = "max error with optimizations off",
                              .value = Text(search.max_error())});
  std::string culprit = std::format("level {}", candidate.optimization);
  for (const Level& level : LevelsUpTo(candidate.optimization)) {
    if (search.IsRight(std::string(level.name), {})) continue;
    culprit = std::format("level {}", level.name);
    finding.evidence.push_back({.name = "first level that is wrong",
                                .value = std::string(level.name)});
    investigation.lab().Progress("explaining: optimizer by optimizer");
    if (const auto name =
            search.Bisect(std::string(level.name), level.optimizers)) {
      culprit = *name;
      finding.evidence.push_back(
          {.name = "right without the optimizer", .value = *name});
    }
    break;
  }
  finding.message = std::format(
      "right with the runtime's graph optimizations off: {} breaks it",
      culprit);
  if (std::string node = FirstWrongValue(investigation, candidate.optimization);
      !node.empty())
    investigation.Locate(finding, node);
  return finding;
}

}  // namespace parity
