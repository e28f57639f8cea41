// Both sides of a validation in memory, for tests: a network and the graph that
// was exported from it are lists of small functions, computed in float64 or
// rounded to float32 after every step. Faults are told by hooks that see what
// was loaded.
#ifndef PARITY_DIAGNOSE_TESTING_FAKE_SIDES_H_
#define PARITY_DIAGNOSE_TESTING_FAKE_SIDES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "diagnose/investigation.h"
#include "diagnose/laboratory.h"
#include "graph/model.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

using Numbers = std::vector<double>;

// One operator: a node of the graph, a call inside the network.
struct FakeStep {
  std::string node;  // its name; empty: none. In the network: the module
  std::string op;
  std::vector<std::string> inputs;
  std::string output;
  std::function<Numbers(const std::vector<Numbers>&)> compute;
  DType dtype = DType::kFloat32;  // kInt64, kBool: not rounded, kept in traces
  std::vector<Attribute> attributes = {};
  // Of the output; empty: as the first input's where the count is the same,
  // else one axis.
  Shape shape = {};
};

struct FakeNetwork {
  std::vector<FakeStep> steps;
  std::vector<std::string> outputs;
  std::map<std::string, Tensor> constants = {};  // initializers
};

// Changes the values that a step gave.
using FakeFault =
    std::function<void(const LoadRequest&, const FakeStep&, Numbers&)>;

struct FakeSides {
  FakeNetwork network;  // the reference
  FakeNetwork graph;
  FakeFault reference_fault = {};  // in any precision
  FakeFault candidate_fault = {};  // of the runtime
  FakeFault native_fault = {};     // of libtorch's kernels on the graph
  // Why something does not load, or run.
  std::function<std::optional<Error>(const LoadRequest&)> load_error = {};
  std::function<std::optional<Error>(const LoadRequest&, const RunRequest&)>
      run_error = {};
  bool recorded = false;  // there is no reference to ask
  LoadRequest reference_load = {.kind = ModelKind::kTorchScript,
                                .path = "network.pt"};
  LoadRequest candidate_load = {.path = "graph.onnx",
                                .provider = "CPUExecutionProvider"};

  // What was asked of the laboratory's sides.
  std::vector<SideKind> made = {};
  std::vector<LoadRequest> loads = {};
  std::vector<std::string> progress = {};
  int runs = 0;
  int reference_asked = 0;  // for what the reference is loaded with

  // Must not outlive this.
  [[nodiscard]] LaboratoryOptions Options();
  // The graph as a model. `inputs` tells dtypes and ranks.
  [[nodiscard]] Model MakeModel(const NamedTensors& inputs) const;
  // As the validation ran it: the reference in float32, the candidate.
  [[nodiscard]] Result<RunResult> RunReference(const RunRequest& request) const;
  [[nodiscard]] Result<RunResult> RunCandidate(const RunRequest& request) const;
  [[nodiscard]] Subject MakeSubject(const NamedTensors& inputs,
                                    const std::string& name = "case") const;
};

// What `load` makes of these sides; one run.
[[nodiscard]] Result<RunResult> RunFake(const FakeSides& sides, SideKind kind,
                                        const LoadRequest& load,
                                        const RunRequest& request);

[[nodiscard]] Tensor Float32(const Numbers& values, Shape shape = {});
[[nodiscard]] Tensor Float64(const Numbers& values, Shape shape = {});
[[nodiscard]] Tensor Int64(const std::vector<std::int64_t>& values,
                           Shape shape = {});
// `count` different numbers of about `scale`, some of them negative.
[[nodiscard]] Numbers Scattered(std::int64_t count, double scale = 1);

// Steps of one input, element by element.
[[nodiscard]] FakeStep Map(std::string node, std::string op, std::string input,
                           std::string output,
                           std::function<double(double)> function);
// Of two inputs of as many elements, or a second one of one element.
[[nodiscard]] FakeStep Combine(std::string node, std::string op,
                               std::vector<std::string> inputs,
                               std::string output,
                               std::function<double(double, double)> function);

}  // namespace parity

#endif  // PARITY_DIAGNOSE_TESTING_FAKE_SIDES_H_
