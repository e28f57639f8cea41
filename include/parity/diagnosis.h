// Why two sides differ: the error budget of an output, and findings with their
// cause and evidence.
#ifndef PARITY_DIAGNOSIS_H_
#define PARITY_DIAGNOSIS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

// What decides whether an output passes.
enum class Criterion : std::uint8_t {
  kMaxDiff,  // the published rule: every difference within its tolerance
  kNoise,    // no difference beyond the float noise of either side, measured
             // against float64; docs/numerics.md
};

enum class Explain : std::uint8_t {
  kAuto,    // what failed, and what is beyond rounding although it passed
  kAlways,  // every case gets its error budget
  kNever,
};

enum class Cause : std::uint8_t {
  kContract,          // names, counts, dtypes, shapes
  kNonFinite,         // NaN or infinity
  kExport,            // the graph computes something else, even in float64
  kReference,         // the PyTorch side is wrong
  kOptimizer,         // right with the runtime's graph optimizations off
  kProvider,          // right on the CPU execution provider
  kRuntime,           // a kernel of the runtime is wrong on its own inputs
  kTie,               // a selection between equal scores came out otherwise
  kRounding,          // nothing but rounding
  kInput,             // the two sides expect their inputs in another form
  kLoad,              // the model did not load
  kNondeterministic,  // the same run gives different results
};

// "export", as in the JSON report.
[[nodiscard]] std::string_view Name(Cause cause);

enum class Confidence : std::uint8_t {
  kCertain,  // an experiment showed it
  kLikely,   // the evidence points there, no experiment could confirm it
};

// Size of the difference between two computations of one output.
struct ErrorSize {
  double rms = 0;
  double max = 0;
  std::int64_t nonfinite_disagreements = 0;
  std::int64_t mismatches =
      0;  // of integers and booleans: elements that differ
};

enum class NoiseVerdict : std::uint8_t { kUnknown, kWithin, kBeyond };

// The difference of one output, split by who moved. Units: those of the output.
struct ErrorBudget {
  ErrorSize total;                     // reference − candidate
  std::optional<ErrorSize> reference;  // float32 reference − float64 reference
  // float64 reference − float64 ONNX graph; where the reference is a recording,
  // that − float64 ONNX graph.
  std::optional<ErrorSize> exported;
  std::optional<ErrorSize> runtime;  // float64 ONNX graph − candidate
  double scale_rms = 0;              // root mean square of the float64 values
  double scale_max = 0;
  double noise_rms = 0;  // what rounding explains
  double noise_max = 0;
  NoiseVerdict verdict = NoiseVerdict::kUnknown;

  // total over noise, the larger of the two ratios; 0 where there is none.
  [[nodiscard]] double TimesNoise() const;
};

// One measurement that supports a finding.
struct Evidence {
  std::string name;   // "max difference with optimizations off"
  std::string value;  // as text: "2.4e-07"
};

struct Finding {
  Cause cause = Cause::kRounding;
  Confidence confidence = Confidence::kLikely;
  std::string message;  // one line for the user
  std::string case_name;
  std::vector<std::string> outputs;  // that show it
  // kTie: of each of `outputs`, the largest difference where the selection is
  // of no consequence.
  std::vector<double> residuals = {};
  std::string node;    // of the ONNX graph; empty: none
  std::string op;      // its operator
  std::string module;  // "backbone.layer1.0.conv1"
  std::vector<Evidence> evidence;
  bool fails = true;  // false: a note on what may be let go
};

}  // namespace parity

#endif  // PARITY_DIAGNOSIS_H_
