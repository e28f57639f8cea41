// Plants faults in correct models and validates each mutant with the whole
// tool: how many are noticed, and is the right node named? And does anything
// alarm about correct models written another way? See docs/mutation.md.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>
#include <print>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "fault_planting.h"
#include "mutation_subject.h"
#include "mutation_tally.h"
#include "mutation_trial.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::string_view kUsage =
    "mutation_run [--seeds N] [--benign N] [--subject NAME]… [--kinds A,B]\n"
    "             [--json FILE] [--keep FOLDER]\n"
    "  --seeds N     different faults of each kind in each subject (default "
    "7)\n"
    "  --benign N    benign forms at most, spread over the subjects (default "
    "110)\n"
    "  --subject     one of several subjects (default: all)\n"
    "  --kinds       kinds of faults, with commas (default: all)\n"
    "  --json FILE   write every trial\n"
    "  --keep FOLDER keep the models that were missed, not located or alarmed\n"
    "Exit code 1: a goal was missed; 2: the run itself failed.\n";

struct RunOptions {
  std::uint64_t seeds = 7;
  std::uint64_t benign = 110;
  std::vector<std::string> subjects = {};  // empty: all
  std::set<FaultKind> kinds = {std::begin(kFaultKinds), std::end(kFaultKinds)};
  std::filesystem::path json = {};
  std::filesystem::path keep = {};
};

// A folder of its own, removed with the object.
class WorkFolder {
 public:
  WorkFolder() {
    std::string path =
        std::filesystem::temp_directory_path() / "parity_mutation_XXXXXX";
    if (::mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Result<std::uint64_t> ParseCount(std::string_view text) {
  std::uint64_t count = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || stop != text.data() + text.size())
    return Fail(ErrorCode::kInvalidArgument,
                std::format("'{}' is no number", text));
  return count;
}

Result<std::set<FaultKind>> ParseKinds(std::string_view text) {
  std::set<FaultKind> kinds;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view name = text.substr(0, comma);
    const auto* const found = std::ranges::find_if(
        kFaultKinds, [&](FaultKind kind) { return Name(kind) == name; });
    if (found == std::end(kFaultKinds))
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("'{}' is no kind of fault", name));
    kinds.insert(*found);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return kinds;
}

Result<RunOptions> ParseOptions(const std::vector<std::string_view>& words) {
  RunOptions options;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view flag = words[i];
    if (i + 1 == words.size())
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("'{}' needs a value", flag));
    const std::string_view value = words[i + 1];
    if (flag == "--seeds") {
      PARITY_ASSIGN_OR_RETURN(options.seeds, ParseCount(value));
    } else if (flag == "--benign") {
      PARITY_ASSIGN_OR_RETURN(options.benign, ParseCount(value));
    } else if (flag == "--subject") {
      options.subjects.emplace_back(value);
    } else if (flag == "--kinds") {
      PARITY_ASSIGN_OR_RETURN(options.kinds, ParseKinds(value));
    } else if (flag == "--json") {
      options.json = value;
    } else if (flag == "--keep") {
      options.keep = value;
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("no flag '{}'", flag));
    }
  }
  if (options.subjects.empty()) options.subjects = SubjectNames();
  return options;
}

void ShowMutant(const MutantRecord& mutant) {
  std::println(stderr, "{} {} {}: {}, {}{}{} ({:.1f} s): {}", mutant.subject,
               Name(mutant.kind), mutant.seed, Name(EffectOf(mutant.effect)),
               mutant.detected ? "detected" : "passed",
               mutant.detected ? ", " : "",
               mutant.detected ? Name(mutant.location) : "", mutant.seconds,
               mutant.description);
}

void ShowBenign(const BenignRecord& benign) {
  std::println(stderr, "{} {}: {} ({:.1f} s)", benign.subject, benign.form,
               benign.alarm ? "ALARM, " + benign.reason : "passed",
               benign.seconds);
}

class MutationRun {
 public:
  explicit MutationRun(const RunOptions& options) : options_(options) {}

  [[nodiscard]] Result<MutationTally> RunAll() {
    std::vector<MutationSubject> subjects;
    std::size_t forms = 0;
    for (const std::string& name : options_.subjects) {
      PARITY_ASSIGN_OR_RETURN(MutationSubject subject,
                              MakeSubject(name, folder_.path()));
      forms += subject.benign.size();
      subjects.push_back(std::move(subject));
    }
    for (const MutationSubject& subject : subjects) {
      PARITY_ASSIGN_OR_RETURN(const TrialRunner runner,
                              TrialRunner::Open(subject, folder_.path()));
      for (const FaultKind kind : options_.kinds)
        PARITY_RETURN_IF_ERROR(RunMutants(subject, runner, kind));
      // By how many forms a subject has; what it cannot take is left to those
      // after it.
      const std::size_t left = options_.benign - tally_.benign.size();
      PARITY_RETURN_IF_ERROR(
          RunBenign(subject, runner, left * subject.benign.size() / forms));
      forms -= subject.benign.size();
    }
    return std::move(tally_);
  }

 private:
  // Different faults of one kind: a seed that gives one again is passed over.
  [[nodiscard]] Status RunMutants(const MutationSubject& subject,
                                  const TrialRunner& runner, FaultKind kind) {
    std::set<std::string> known;
    const std::uint64_t most_seeds = 4 * options_.seeds;
    for (std::uint64_t seed = 0;
         seed < most_seeds && known.size() < options_.seeds; ++seed) {
      const Result<PlantedFault> fault = PlantFault(subject.model, kind, seed);
      // Some graphs have no place for some kinds.
      if (!fault && fault.error().code == ErrorCode::kNotFound) break;
      PARITY_RETURN_IF_ERROR(fault);
      if (!known.insert(fault->way + fault->description).second) continue;
      PARITY_ASSIGN_OR_RETURN(MutantRecord record,
                              runner.RunMutant(*fault, kind, seed));
      ShowMutant(record);
      if (IsFailure(record))
        Keep(runner, std::format("{} {} {}", subject.name, Name(kind), seed));
      tally_.mutants.push_back(std::move(record));
    }
    return {};
  }

  // Spread over all forms.
  [[nodiscard]] Status RunBenign(const MutationSubject& subject,
                                 const TrialRunner& runner, std::size_t count) {
    const std::size_t size = subject.benign.size();
    for (std::size_t i = 0; i < size; ++i) {
      if ((i + 1) * count / size == i * count / size) continue;
      Result<BenignRecord> record = runner.RunBenign(subject.benign[i]);
      if (!record && record.error().code == ErrorCode::kNotFound) continue;
      PARITY_RETURN_IF_ERROR(record);
      ShowBenign(*record);
      if (record->alarm)
        Keep(runner, std::format("{} {}", subject.name, record->form));
      tally_.benign.push_back(*std::move(record));
    }
    return {};
  }

  // The model of the last trial.
  void Keep(const TrialRunner& runner, const std::string& name) const {
    if (options_.keep.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(options_.keep, ignored);
    std::filesystem::copy_file(
        runner.model(), options_.keep / (name + ".onnx"),
        std::filesystem::copy_options::overwrite_existing, ignored);
  }

  const RunOptions& options_;
  WorkFolder folder_;
  MutationTally tally_;
};

Result<bool> Run(const std::vector<std::string_view>& words) {
  PARITY_ASSIGN_OR_RETURN(const RunOptions options, ParseOptions(words));
  PARITY_ASSIGN_OR_RETURN(const MutationTally tally,
                          MutationRun(options).RunAll());
  std::print("{}{}", tally.DescribeFailures(), tally.Describe());
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << tally.ToJson();
    if (!file.flush())
      return Fail(ErrorCode::kIo,
                  std::format("{}: cannot be written", options.json.string()));
  }
  return tally.ReachesGoals();
}

}  // namespace
}  // namespace parity

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  if (std::ranges::contains(words, "--help")) {
    std::print("{}", parity::kUsage);
    return 0;
  }
  // This program does not stand where the library would look for workers.
  ::setenv("ONNX_PARITY_WORKERS", PARITY_BINARY_DIR "/workers", 0);
  const parity::Result<bool> reached = parity::Run(words);
  if (reached) return *reached ? 0 : 1;
  std::println(stderr, "{}", reached.error().message);
  return 2;
}
