#include "backend/torch/torch_backend.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>
#include <torch/version.h>

#include <cstddef>
#include <format>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/torch/background_matting.h"
#include "backend/torch/exception_text.h"
#include "backend/torch/kernels.h"
#include "backend/torch/onnx/onnx_model.h"
#include "backend/torch/run_trace.h"
#include "backend/torch/tensor_bridge.h"
#include "backend/torch/torch_script.h"
#include "base/parallel.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "networks/matting_config.h"
#include "networks/weights_check.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// What Load() leaves behind.
class TorchBackend::Model {
 public:
  virtual ~Model() = default;
  virtual Result<NamedTensors> Run(const NamedTensors& inputs) = 0;
  // Of a traced run.
  [[nodiscard]] virtual RunTrace::Locator ModuleLocator() const = 0;
};

namespace {

Result<std::optional<c10::ScalarType>> ParsePrecision(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name == "float32") return c10::ScalarType::Float;
  if (name == "float64") return c10::ScalarType::Double;
  if (name == "float16") return c10::ScalarType::Half;
  return Fail(
      ErrorCode::kInvalidArgument,
      std::format("precision is float32, float64 or float16, not '{}'", name));
}

int ThreadsFor(const LoadRequest& request) {
  return request.threads > 0 ? request.threads : CoreCount();
}

// Errors: kNotFound naming both what is wanted and what there is.
Result<NamedTensors> Select(NamedTensors outputs,
                            const std::vector<std::string>& names) {
  if (names.empty()) return outputs;
  NamedTensors selected;
  for (const std::string& name : names) {
    const Tensor* found = FindTensor(outputs, name);
    if (found == nullptr) {
      std::string list;
      for (const NamedTensor& output : outputs)
        list += (list.empty() ? "" : ", ") + output.name;
      return Fail(ErrorCode::kNotFound,
                  std::format("the reference returns no output '{}'; it "
                              "returns {}",
                              name, list));
    }
    selected.push_back({.name = name, .tensor = *found});
  }
  return selected;
}

}  // namespace

class TorchBackend::NetworkModel : public TorchBackend::Model {
 public:
  NetworkModel(const MattingConfig& config, const NamedTensors& weights,
               c10::ScalarType precision, int threads)
      : network_(config, weights, precision, threads),
        outputs_(OutputNames(config)) {}

  Result<NamedTensors> Run(const NamedTensors& inputs) override {
    PARITY_ASSIGN_OR_RETURN(const at::Tensor src, Image(inputs, "src"));
    PARITY_ASSIGN_OR_RETURN(const at::Tensor bgr, Image(inputs, "bgr"));
    PARITY_ASSIGN_OR_RETURN(const std::vector<at::Tensor> results,
                            network_.Forward(src, bgr));
    NamedTensors outputs;
    for (std::size_t i = 0; i < results.size(); ++i) {
      PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                              ParityFromTorch(results[i], outputs_[i]));
      outputs.push_back({.name = outputs_[i], .tensor = std::move(tensor)});
    }
    return outputs;
  }
  // It says so itself.
  [[nodiscard]] RunTrace::Locator ModuleLocator() const override { return {}; }

 private:
  static Result<at::Tensor> Image(const NamedTensors& inputs,
                                  std::string_view name) {
    const Tensor* tensor = FindTensor(inputs, name);
    if (tensor == nullptr) {
      return Fail(ErrorCode::kIncompatible,
                  std::format("no input '{}' is given; the network takes 'src' "
                              "and 'bgr'",
                              name));
    }
    return TorchFromParity(*tensor);
  }

  BackgroundMatting network_;
  std::vector<std::string> outputs_;
};

class TorchBackend::ScriptModel : public TorchBackend::Model {
 public:
  ScriptModel(TorchScript script, std::vector<std::string> output_names)
      : script_(std::move(script)), output_names_(std::move(output_names)) {}

  Result<NamedTensors> Run(const NamedTensors& inputs) override {
    PARITY_ASSIGN_OR_RETURN(NamedTensors outputs, script_.Run(inputs));
    if (output_names_.empty()) return outputs;
    if (output_names_.size() != outputs.size()) {
      return Fail(ErrorCode::kInvalidArgument,
                  std::format("{} names are given for the {} outputs of the "
                              "reference",
                              output_names_.size(), outputs.size()));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      outputs[i].name = output_names_[i];
    return outputs;
  }
  [[nodiscard]] RunTrace::Locator ModuleLocator() const override {
    return script_.ModuleLocator();
  }

 private:
  TorchScript script_;
  std::vector<std::string> output_names_;  // empty: its own
};

TorchBackend::TorchBackend() = default;
TorchBackend::~TorchBackend() = default;

Status TorchBackend::LoadNetwork(const LoadRequest& request,
                                 LoadResult& result) {
  PARITY_ASSIGN_OR_RETURN(const MattingConfig config,
                          ConfigFromAttributes(request.attributes));
  PARITY_ASSIGN_OR_RETURN(
      const CheckedWeights checked,
      CheckWeights(config, request.weights, /*allow_missing=*/false));
  PARITY_ASSIGN_OR_RETURN(const std::optional<c10::ScalarType> precision,
                          ParsePrecision(request.precision));
  model_ = std::make_unique<NetworkModel>(
      config, checked.weights, precision.value_or(c10::ScalarType::Float),
      ThreadsFor(request));
  result.input_names = {"src", "bgr"};
  result.output_names = OutputNames(config);
  return {};
}

Status TorchBackend::LoadScript(const LoadRequest& request,
                                LoadResult& result) {
  PARITY_ASSIGN_OR_RETURN(TorchScript script, TorchScript::Open(request.path));
  for (const auto& [name, value] : request.attributes)
    PARITY_RETURN_IF_ERROR(script.SetAttribute(name, value));
  PARITY_ASSIGN_OR_RETURN(const std::optional<c10::ScalarType> precision,
                          ParsePrecision(request.precision));
  if (precision) script.Convert(*precision);
  result.input_names = script.InputNames();
  result.output_names = request.output_names.empty() ? script.OutputNames()
                                                     : request.output_names;
  for (std::string& note : script.Notes())
    result.notes.push_back(std::move(note));
  model_ =
      std::make_unique<ScriptModel>(std::move(script), request.output_names);
  return {};
}

Status TorchBackend::LoadOnnx(const LoadRequest& request, LoadResult& result) {
  PARITY_ASSIGN_OR_RETURN(const std::optional<c10::ScalarType> precision,
                          ParsePrecision(request.precision));
  PARITY_ASSIGN_OR_RETURN(OnnxModel model,
                          OnnxModel::Open(request.path, precision));
  result.input_names = model.input_names();
  result.output_names = model.output_names();
  for (const std::string& note : model.notes()) result.notes.push_back(note);
  onnx_model_ = std::make_unique<OnnxModel>(std::move(model));
  return {};
}

Result<LoadResult> TorchBackend::Load(const LoadRequest& request) {
  const Stopwatch time;
  model_.reset();
  onnx_model_.reset();
  return CatchTorch([&]() -> Result<LoadResult> {
    const c10::InferenceMode inference;
    // A network divides its work itself: see TaskRunner.
    const int threads =
        request.kind == ModelKind::kNetwork ? 1 : ThreadsFor(request);
    at::set_num_threads(threads);
    SetBlasThreads(threads);
    PARITY_ASSIGN_OR_RETURN(Kernels kernels,
                            ChooseKernels(request.reference_kernels));
    LoadResult result = {.version = "libtorch " TORCH_VERSION,
                         .input_names = {},
                         .output_names = {},
                         .notes = std::move(kernels.notes),
                         .kernels = std::move(kernels.description)};
    switch (request.kind) {
      case ModelKind::kNetwork:
        PARITY_RETURN_IF_ERROR(LoadNetwork(request, result));
        break;
      case ModelKind::kTorchScript:
        PARITY_RETURN_IF_ERROR(LoadScript(request, result));
        break;
      case ModelKind::kOnnx:
        PARITY_RETURN_IF_ERROR(LoadOnnx(request, result));
        break;
    }
    result.load_ms = time.milliseconds();
    return result;
  });
}

Result<RunResult> TorchBackend::Run(const RunRequest& request) {
  if (onnx_model_ != nullptr) {
    const c10::InferenceMode inference;
    return onnx_model_->Run(request);
  }
  if (model_ == nullptr) {
    return Fail(ErrorCode::kInvalidArgument,
                "the reference was not loaded before it was run");
  }
  return CatchTorch([&]() -> Result<RunResult> {
    const c10::InferenceMode inference;
    std::optional<RunTrace> trace;
    if (request.trace) trace.emplace(model_->ModuleLocator());
    const Stopwatch time;
    PARITY_ASSIGN_OR_RETURN(NamedTensors outputs, model_->Run(request.inputs));
    const double run_ms = time.milliseconds();
    std::vector<TracedValue> values;
    if (trace) values = trace->Take();
    PARITY_ASSIGN_OR_RETURN(outputs,
                            Select(std::move(outputs), request.output_names));
    return RunResult{.outputs = std::move(outputs),
                     .run_ms = run_ms,
                     .changed_inputs = {},
                     .peak_rss_bytes = 0,
                     .trace = std::move(values)};
  });
}

}  // namespace parity
