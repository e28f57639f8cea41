// A whole validation: does this ONNX file compute what its PyTorch original
// computes?
#ifndef PARITY_VALIDATION_H_
#define PARITY_VALIDATION_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parity/compare.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {

// The PyTorch side. One of checkpoint, torchscript, recorded; none of them: the
// built-in network with synthetic weights, if the ONNX file's metadata says
// that it was exported from those.
struct ReferenceOptions {
  std::filesystem::path checkpoint;   // state_dict of the built-in network
  std::filesystem::path torchscript;  // archive of torch.jit.save
  std::filesystem::path recorded;     // .safetensors or .npz with inputs and
                                   // outputs by name, or a test_data_set folder
  std::map<std::string, std::string>
      attributes;  // TorchScript: module attributes to set before the run
  std::map<std::string, std::string>
      network_config;  // built-in network: overrides of the ONNX metadata, see
                       // networks/matting_config.h
  std::optional<std::uint64_t>
      synthetic_seed;  // built-in network: synthetic weights of this seed
  std::vector<std::string> output_names;  // of what the reference returns, in
                                          // order; empty: its own names
  bool allow_missing_keys = false;  // checkpoint: synthetic values for missing
                                    // keys, unexpected keys ignored
  std::string kernels = "auto";     // auto, onednn, native
  // Folder in which results of references are kept and found again; empty:
  // none. Beyond the size those that were not used for longest go.
  std::filesystem::path cache = {};
  std::int64_t cache_bytes = 10'000'000'000;
};

// The ONNX side.
struct RuntimeOptions {
  std::filesystem::path library;  // empty = the system's ONNX Runtime
  std::string provider =
      "CPUExecutionProvider";        // name of the execution provider
  std::string optimization = "all";  // disabled, basic, extended, all
  int threads = 0;                   // 0 = one per core; for both sides
  // Not 0: the model is measured. It is loaded and run with ONNX Runtime's own
  // defaults (memory arena, spinning threads), while nothing else of this tool
  // computes; in the first case it runs this many times again; and its nodes
  // are counted per provider.
  int repeats = 0;
};

// Which inputs are tried. By default the plan's three cases; shapes,
// dimensions, generator or images make one case "custom", every inputs file
// makes one case of its own.
struct CaseOptions {
  std::vector<std::string> only;  // names of planned cases to run; empty = all
  std::map<std::string, Shape> shapes;             // input → shape
  std::map<std::string, std::int64_t> dimensions;  // dim_param → size
  std::string generator;  // name of generate/generator.h; empty = the plan's
  std::map<std::string, std::filesystem::path> images;  // input → PNG or JPEG
  std::vector<std::filesystem::path>
      inputs;  // .safetensors, .npz or test_data_set folders
  std::uint64_t seed = 0;
  // Further cases are made from the first one given by `inputs`: other sizes of
  // the axes the model leaves open, batch 2 and 3, suspect values.
  bool vary = false;
};

struct WorkerLimits {
  std::chrono::milliseconds timeout =
      std::chrono::minutes(10);   // for one answer
  std::int64_t memory_bytes = 0;  // per worker; 0 = unlimited
};

struct ValidationOptions {
  std::filesystem::path model;
  ReferenceOptions reference;
  RuntimeOptions runtime;
  CaseOptions cases;
  WorkerLimits limits;
  Tolerance tolerance;
  std::map<std::string, double>
      output_atol;  // per output, instead of tolerance.atol
  std::map<std::string, double> output_rtol;
  Criterion criterion = Criterion::kMaxDiff;
  Explain explain = Explain::kAuto;
  bool strict_ties = false;  // a selection between equal scores that came out
                             // otherwise is a failure, too
  std::filesystem::path repro;  // folder to write the culprit to; empty: none
  const std::atomic<bool>* interrupted =
      nullptr;  // set to stop early with kInterrupted
  std::function<void(std::string_view)>
      progress;  // what is being done now; may be empty
};

// One output of one case.
struct OutputResult {
  std::string name;
  Shape shape;        // of the reference
  std::string dtype;  // of the candidate
  Tolerance tolerance;
  std::vector<std::string>
      contract_failures;  // when not empty nothing was subtracted
  std::optional<Comparison> comparison;
  Criterion criterion = Criterion::kMaxDiff;
  std::optional<ErrorBudget> budget = {};  // where it was measured
  bool excused_as_tie = false;  // differs only where a selection between equal
                                // scores came out otherwise
  [[nodiscard]] bool passed() const;
};

struct InputDescription {
  std::string name;
  std::string dtype;
  Shape shape;
  std::string origin;  // "normal, seed 0", "photo.png"
};

struct CaseResult {
  std::string name;
  std::vector<InputDescription> inputs;
  std::vector<std::string>
      contract_failures;  // of the case as a whole: missing or extra outputs,
                          // inconsistent dimensions
  std::vector<OutputResult> outputs;
  double reference_run_ms = 0;
  double candidate_run_ms = 0;
  std::vector<double> candidate_repeat_ms = {};  // RuntimeOptions::repeats
  double compare_ms = 0;
  // Set when a side could not run this case; nothing was compared then.
  std::optional<Error> error = {};
  [[nodiscard]] bool passed()
      const;  // nothing failed; says nothing about outputs without elements
  // The median of candidate_repeat_ms. Nothing where there are none.
  [[nodiscard]] std::optional<double> candidate_steady_ms() const;
};

struct SideDescription {
  std::string version;  // "libtorch 2.6.0"; "recording" for recorded references
  std::string model;    // what was loaded, in words
  std::string kernels;  // what computes
  double load_ms = 0;
  std::int64_t peak_rss_bytes = 0;
  // All its results were found in ReferenceOptions::cache and nothing was
  // loaded; times and memory are those of when they were computed.
  bool cached = false;
  // Execution provider → nodes it ran, where they were counted.
  std::map<std::string, std::int64_t> provider_nodes = {};
};

enum class Verdict : std::uint8_t {
  kPassed,
  kFailed,
  kUndecided,  // an output had no elements in any case, or a side could not be
               // loaded or run: nothing was compared, so nothing can be said
};

// "passed", "failed", "error", as in the JSON report.
[[nodiscard]] std::string_view Name(Verdict verdict);

struct ValidationResult {
  std::string model_path;
  std::string model_sha256;
  std::int64_t model_bytes = 0;
  std::int64_t opset = 0;
  std::string
      weights_sha256;  // of a built-in network's state_dict; empty otherwise
  SideDescription reference;
  SideDescription candidate;
  std::vector<std::string> notes;  // what the user should know, a line each
  std::vector<CaseResult> cases;
  double total_ms = 0;
  double explain_ms = 0;
  std::vector<Finding> findings;  // most important first
  // Set when a side could not be loaded or run.
  std::optional<Error> error = {};

  // Of the most important finding. Nothing when both sides are equal, or when
  // nothing is known.
  [[nodiscard]] std::optional<Cause> cause() const;

  [[nodiscard]] Verdict verdict() const;
  // Why it did not pass, most important first: broken promises about names,
  // dtypes and shapes before differences, e.g. "pha differs by 0.21 (limit
  // 0.005) (case standard)". Empty when passed.
  [[nodiscard]] std::vector<std::string> Reasons() const;
};

// Runs both sides in worker processes and compares them. A difference is a
// result, and so is a model that does not load or run: ValidationResult::error
// says why, its findings whose fault it is. An error is one of the caller's
// (unusable options, files of his that cannot be read), or kInterrupted.
[[nodiscard]] Result<ValidationResult> Validate(
    const ValidationOptions& options);

}  // namespace parity

#endif  // PARITY_VALIDATION_H_
