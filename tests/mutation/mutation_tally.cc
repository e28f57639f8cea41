#include "mutation_tally.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <format>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fault_planting.h"
#include "mutation_trial.h"
#include "report/text_table.h"

namespace parity {
namespace {

using Json = nlohmann::json;

constexpr double kDetectedGoal = 0.99;
constexpr double kLocatedGoal = 0.95;

struct Counts {
  std::size_t mutants = 0;
  std::size_t equivalent = 0;
  std::size_t faint = 0;
  std::size_t faint_detected = 0;
  std::size_t visible = 0;
  std::size_t visible_detected = 0;
  std::map<Location, std::size_t> located = {};  // of all that are detected
  std::map<std::string, std::size_t> causes = {};

  void Add(const MutantRecord& mutant) {
    ++mutants;
    const Effect effect = EffectOf(mutant.effect);
    // Whatever is said of it, there is nothing to find.
    if (effect == Effect::kEquivalent) {
      ++equivalent;
      return;
    }
    ++(effect == Effect::kFaint ? faint : visible);
    if (!mutant.detected) return;
    ++(effect == Effect::kFaint ? faint_detected : visible_detected);
    ++located[mutant.location];
    ++causes[mutant.cause];
  }

  [[nodiscard]] std::size_t At(Location location) const {
    const auto found = located.find(location);
    return found == located.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t detected() const {
    return faint_detected + visible_detected;
  }
  [[nodiscard]] std::size_t WithinOneNode() const {
    return At(Location::kExact) + At(Location::kNeighbour) +
           At(Location::kListed);
  }
};

Counts Count(const std::vector<MutantRecord>& mutants) {
  Counts counts;
  for (const MutantRecord& mutant : mutants) counts.Add(mutant);
  return counts;
}

// Of nothing, everything.
double Share(std::size_t part, std::size_t whole) {
  return whole == 0 ? 1
                    : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Percent(std::size_t part, std::size_t whole) {
  return std::format("{} of {} ({:.1f} %)", part, whole,
                     100 * Share(part, whole));
}

std::vector<std::string> Row(std::string name, const Counts& counts) {
  std::vector<std::string> row = {std::move(name)};
  for (const std::size_t count :
       {counts.mutants, counts.equivalent, counts.faint, counts.visible,
        counts.detected(), counts.faint - counts.faint_detected,
        counts.visible - counts.visible_detected, counts.At(Location::kExact),
        counts.At(Location::kNeighbour), counts.At(Location::kListed),
        counts.At(Location::kWrong), counts.At(Location::kNone)})
    row.push_back(std::to_string(count));
  return row;
}

std::size_t Alarms(const std::vector<BenignRecord>& benign) {
  return static_cast<std::size_t>(
      std::ranges::count_if(benign, &BenignRecord::alarm));
}

std::string Summary(const Counts& all,
                    const std::vector<BenignRecord>& benign) {
  std::string causes;
  for (const auto& [cause, count] : all.causes)
    causes += std::format("{}{} {}", causes.empty() ? "" : ", ",
                          cause.empty() ? "none" : cause, count);
  return std::format(
      "visible mutants detected: {}, goal {:.0f} %\n"
      "faint mutants detected: {}, no goal\n"
      "located within one node or listed: {}, goal {:.0f} %\n"
      "  exactly: {}\n"
      "  exactly or at a neighbour: {}\n"
      "causes: {}\n"
      "alarms among benign forms: {} of {}, goal 0\n"
      "visible: an output moved by {:.0e} of its largest magnitude or more; "
      "equivalent: by {:.0e} or less\n",
      Percent(all.visible_detected, all.visible), 100 * kDetectedGoal,
      Percent(all.faint_detected, all.faint),
      Percent(all.WithinOneNode(), all.detected()), 100 * kLocatedGoal,
      Percent(all.At(Location::kExact), all.detected()),
      Percent(all.At(Location::kExact) + all.At(Location::kNeighbour),
              all.detected()),
      causes.empty() ? "none" : causes, Alarms(benign), benign.size(),
      kVisibleEffect, kNoiseEffect);
}

Json ToRecord(const MutantRecord& mutant) {
  Json record = {{"subject", mutant.subject},
                 {"kind", Name(mutant.kind)},
                 {"seed", mutant.seed},
                 {"way", mutant.way},
                 {"node", mutant.node},
                 {"description", mutant.description},
                 {"effect", Name(EffectOf(mutant.effect))},
                 {"detected", mutant.detected},
                 {"cause", mutant.cause},
                 {"reported_node", mutant.reported},
                 {"message", mutant.message},
                 {"seconds", mutant.seconds}};
  // JSON knows no infinity.
  record["relative_difference"] =
      std::isfinite(mutant.effect) ? Json(mutant.effect) : Json();
  record["location"] = mutant.detected ? Json(Name(mutant.location)) : Json();
  return record;
}

}  // namespace

bool IsFailure(const MutantRecord& mutant) {
  if (EffectOf(mutant.effect) == Effect::kEquivalent) return mutant.detected;
  return !mutant.detected || mutant.location >= Location::kWrong;
}

std::string MutationTally::Describe() const {
  TextTable table({"kind", "mutants", "equivalent", "faint", "visible",
                   "detected", "missed faint", "missed visible", "exact",
                   "neighbour", "listed", "wrong", "none"});
  for (const FaultKind kind : kFaultKinds) {
    Counts counts;
    for (const MutantRecord& mutant : mutants) {
      if (mutant.kind == kind) counts.Add(mutant);
    }
    if (counts.mutants > 0) table.AddRow(Row(std::string(Name(kind)), counts));
  }
  const Counts all = Count(mutants);
  table.AddRow(Row("all", all));
  return table.Format(0) + "\n" + Summary(all, benign);
}

std::string MutationTally::DescribeFailures() const {
  std::string text;
  for (const MutantRecord& mutant : mutants) {
    if (!IsFailure(mutant)) continue;
    const Effect effect = EffectOf(mutant.effect);
    text +=
        std::format("{}: {} {} seed {}, effect {:.1e} ({}): {}\n  {}{}\n",
                    !mutant.detected                ? "missed"
                    : effect == Effect::kEquivalent ? "equivalent, but failed"
                                                    : "not located",
                    mutant.subject, Name(mutant.kind), mutant.seed,
                    mutant.effect, Name(effect), mutant.description,
                    mutant.cause.empty() ? "no finding" : mutant.cause + ": ",
                    mutant.message);
  }
  for (const BenignRecord& record : benign) {
    if (record.alarm)
      text += std::format("alarm: {} {}: {}\n", record.subject, record.form,
                          record.reason);
  }
  return text;
}

std::string MutationTally::ToJson() const {
  const Counts all = Count(mutants);
  Json json = {{"noise_effect", kNoiseEffect},
               {"visible_effect", kVisibleEffect},
               {"summary",
                {{"mutants", all.mutants},
                 {"equivalent", all.equivalent},
                 {"faint", all.faint},
                 {"faint_detected", all.faint_detected},
                 {"visible", all.visible},
                 {"visible_detected", all.visible_detected},
                 {"exact", all.At(Location::kExact)},
                 {"neighbour", all.At(Location::kNeighbour)},
                 {"listed", all.At(Location::kListed)},
                 {"wrong", all.At(Location::kWrong)},
                 {"none", all.At(Location::kNone)},
                 {"causes", all.causes},
                 {"benign", benign.size()},
                 {"alarms", Alarms(benign)},
                 {"goals_reached", ReachesGoals()}}},
               {"mutants", Json::array()},
               {"benign", Json::array()}};
  for (const MutantRecord& mutant : mutants)
    json["mutants"].push_back(ToRecord(mutant));
  for (const BenignRecord& record : benign) {
    json["benign"].push_back({{"subject", record.subject},
                              {"form", record.form},
                              {"alarm", record.alarm},
                              {"reason", record.reason},
                              {"seconds", record.seconds}});
  }
  return json.dump(2) + "\n";
}

bool MutationTally::ReachesGoals() const {
  const Counts all = Count(mutants);
  return Share(all.visible_detected, all.visible) >= kDetectedGoal &&
         Share(all.WithinOneNode(), all.detected()) >= kLocatedGoal &&
         Alarms(benign) == 0;
}

}  // namespace parity
