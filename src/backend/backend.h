// One side of a validation: something that loads a model and runs it on named
// tensors. Implementations live behind worker processes
// (worker/worker_client.h), in memory (tests), or in a recording
// (validate/recorded_backend.h).
#ifndef PARITY_BACKEND_BACKEND_H_
#define PARITY_BACKEND_BACKEND_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"

namespace parity {

class SharedTensors;

enum class ModelKind : std::uint8_t {
  kOnnx,         // `path` is an .onnx file
  kTorchScript,  // `path` is a TorchScript archive
  kNetwork,  // a built-in network; `options` is its configuration, `weights`
             // its state_dict
};

struct LoadRequest {
  ModelKind kind = ModelKind::kOnnx;
  std::string path{};
  // kNetwork: keys of networks/matting_config.h. kTorchScript: module
  // attributes to set (name → value as text).
  std::map<std::string, std::string> attributes{};
  NamedTensors weights{};
  // The dtype parameters are converted to, and floating values computed in.
  // Empty: kNetwork float32, the others as they are. ONNX Runtime has no choice
  // and ignores it.
  std::string precision{};  // "float32", "float16", "float64" or empty
  // kTorchScript: names for what it returns, in order; empty: its own.
  std::vector<std::string> output_names{};
  // Runtime options, ignored by sides that have none of the kind.
  int threads = 0;         // 0 = one per core
  std::string provider{};  // "CPUExecutionProvider", …; empty = the CPU
  std::string optimization = "all";  // disabled, basic, extended, all
  std::vector<std::string> disabled_optimizers{};  // of ONNX Runtime, by name
  // kOnnx: values of the main graph that runs may ask for beside the outputs.
  // Whoever fuses nodes must know them before.
  std::vector<std::string> taps{};
  std::string runtime_library{};  // path; empty = the system's
  // ONNX Runtime's own defaults in place of what suits two sides on one machine
  // (no memory arena, no spinning threads): what a deployment would measure.
  bool measured = false;
  // Where the first run may leave a file for a moment, to learn which provider
  // runs which node; empty: not asked.
  std::string scratch_folder{};
  std::string reference_kernels = "auto";  // auto, onednn, native
};

struct LoadResult {
  std::string version{};  // "libtorch 2.6.0", "ONNX Runtime 1.21.0"
  std::vector<std::string> providers{};    // that this runtime was built with
  std::vector<std::string> input_names{};  // in forward order; empty when the
                                           // model does not name them
  std::vector<std::string>
      output_names{};  // in order; empty when known only after a run
  std::vector<std::string> notes{};  // lines for the user, e.g. "oneDNN
                                     // convolutions are wrong here; …"
  std::string kernels{};  // what computes convolutions: "native (OpenBLAS)",
                          // "oneDNN 3.7.2", "CPUExecutionProvider"
  double load_ms = 0;
};

struct RunRequest {
  NamedTensors inputs{};
  // When set, the image in shared memory that `inputs` were taken from
  // (backend/shared_tensors.h): workers get it as it is, without a copy.
  std::shared_ptr<const SharedTensors> shared_inputs{};
  std::vector<std::string> output_names{};  // empty = all
  bool trace = false;  // also describe what was computed on the way; for sides
                       // that can, the others ignore it
  int repeats = 0;     // further runs on the same inputs, for their times
};

// One value that was computed on the way to the outputs, in order.
struct TracedValue {
  std::string name{};    // ONNX: of the value; PyTorch: empty
  std::string op{};      // "Conv"; PyTorch: "aten::convolution"
  std::string module{};  // PyTorch: path of the module that computed it,
                         // "backbone.layer1.0.conv1"; ONNX: name of the node
  DType dtype = DType::kFloat32;
  Shape shape{};
  ValueSketch sketch{};
  // Given for integers and booleans, and for operators with steps (round,
  // floor, ceil, sign), of up to 16 MiB each.
  std::optional<Tensor> tensor{};
};

struct RunResult {
  NamedTensors outputs{};
  double run_ms = 0;                // the computation alone
  std::vector<double> repeat_ms{};  // of the further runs, in order
  // Execution provider → nodes it ran; empty where it was not asked for, or is
  // not known.
  std::map<std::string, std::int64_t> provider_nodes{};
  std::vector<std::string>
      changed_inputs{};             // inputs whose bytes differ after the run
  std::int64_t peak_rss_bytes = 0;  // of the process that ran it
  std::vector<TracedValue> trace{};
};

class Backend {
 public:
  virtual ~Backend() = default;
  // "reference" or "candidate", for messages.
  [[nodiscard]] virtual std::string name() const = 0;
  // An empty `path` loads no model: the answer then says what the library is
  // and has; for sides that can. Errors: kBackend with the library's text,
  // kWorkerDied with how, and those of reading `path`.
  [[nodiscard]] virtual Result<LoadResult> Load(const LoadRequest& request) = 0;
  // Requires a successful Load(). May be called again.
  [[nodiscard]] virtual Result<RunResult> Run(const RunRequest& request) = 0;
};

}  // namespace parity

#endif  // PARITY_BACKEND_BACKEND_H_
