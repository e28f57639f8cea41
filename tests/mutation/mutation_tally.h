// What the trials amount to: table, goals, JSON.
#ifndef PARITY_TESTS_MUTATION_MUTATION_TALLY_H_
#define PARITY_TESTS_MUTATION_MUTATION_TALLY_H_

#include <string>
#include <vector>

#include "mutation_trial.h"

namespace parity {

// Missed, not located, or failed although it is equivalent.
[[nodiscard]] bool IsFailure(const MutantRecord& mutant);

struct MutationTally {
  std::vector<MutantRecord> mutants;
  std::vector<BenignRecord> benign;

  // A row a kind, the sum, and a summary with percentages.
  [[nodiscard]] std::string Describe() const;
  // Every mutant that was missed or not located, every alarm: a line each.
  [[nodiscard]] std::string DescribeFailures() const;
  [[nodiscard]] std::string ToJson() const;
  // At least 99 % of the visible mutants are detected, at least 95 % of the
  // detected located within one node, no benign form alarms.
  [[nodiscard]] bool ReachesGoals() const;
};

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_MUTATION_TALLY_H_
