// One mutant or benign form sent through a whole validation, and what came of
// it.
#ifndef PARITY_TESTS_MUTATION_MUTATION_TRIAL_H_
#define PARITY_TESTS_MUTATION_MUTATION_TRIAL_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fault_planting.h"
#include "mutation_subject.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/validation.h"

namespace parity {

// Largest difference of an output that is float noise, and from which on a
// difference is visible: relative to the largest magnitude of that output.
inline constexpr double kNoiseEffect = 1e-6;
inline constexpr double kVisibleEffect = 1e-4;

enum class Effect : std::uint8_t {
  kEquivalent,  // the mutant's outputs are the correct model's, within noise
  kFaint,
  kVisible,
};
[[nodiscard]] Effect EffectOf(double relative_difference);

// Where the first finding looks for the fault.
enum class Location : std::uint8_t {
  kExact,      // the planted node, or one that was inserted
  kNeighbour,  // computes what it uses, or uses what it computes
  kListed,     // the planted node is in the finding's region or suspects
  kWrong,      // another node
  kNone,       // no node
};
[[nodiscard]] std::string_view Name(Effect effect);
[[nodiscard]] std::string_view Name(Location location);

struct MutantRecord {
  std::string subject;
  FaultKind kind = FaultKind::kAttribute;
  std::uint64_t seed = 0;
  std::string way;
  std::string node;
  std::string description;
  // Largest difference of the two models' outputs in ONNX Runtime, relative to
  // the output's largest magnitude; infinite where they cannot be subtracted.
  double effect = 0;
  bool detected = false;
  Location location = Location::kNone;  // meaningful when detected
  std::string cause;                    // of the first finding; may be empty
  std::string reported;                 // its node; may be empty
  std::string message;
  double seconds = 0;
};

struct BenignRecord {
  std::string subject;
  std::string form;
  bool alarm = false;
  std::string reason;
  double seconds = 0;
};

// Runs the trials of one subject. Files go to `folder`.
class TrialRunner {
 public:
  // Computes what the correct model gives. Errors: those of running it.
  [[nodiscard]] static Result<TrialRunner> Open(
      const MutationSubject& subject, const std::filesystem::path& folder);

  // The file that the last trial was about.
  [[nodiscard]] const std::filesystem::path& model() const { return model_; }

  // Of a fault planted in the subject's model. Errors: those of Validate().
  [[nodiscard]] Result<MutantRecord> RunMutant(const PlantedFault& fault,
                                               FaultKind kind,
                                               std::uint64_t seed) const;
  // Errors: kNotFound when the subject has no such form; those of Validate().
  [[nodiscard]] Result<BenignRecord> RunBenign(const BenignForm& form) const;

 private:
  TrialRunner(const MutationSubject& subject, std::filesystem::path model)
      : subject_(subject), model_(std::move(model)) {}
  // A list of outputs a case, or why the model does not run.
  [[nodiscard]] Result<std::vector<NamedTensors>> Compute() const;
  [[nodiscard]] double MeasureEffect() const;
  [[nodiscard]] Result<ValidationResult> Judge(
      const std::string& optimization) const;

  const MutationSubject& subject_;
  std::filesystem::path model_;  // the file under trial
  std::vector<NamedTensors> inputs_;
  std::vector<NamedTensors> correct_;
};

}  // namespace parity

#endif  // PARITY_TESTS_MUTATION_MUTATION_TRIAL_H_
