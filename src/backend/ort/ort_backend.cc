#include "backend/ort/ort_backend.h"

#include <onnxruntime_cxx_api.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <expected>
#include <filesystem>
#include <format>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/ort/node_profile.h"
#include "backend/ort/ort_library.h"
#include "backend/ort/ort_provider.h"
#include "backend/ort/tapped_model.h"
#include "base/file_mapping.h"
#include "base/parallel.h"
#include "base/status_macros.h"
#include "base/stopwatch.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

struct ElementType {
  DType dtype;
  ONNXTensorElementDataType type;
};

constexpr std::array kElementTypes = {
    ElementType{DType::kFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    ElementType{DType::kBFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    ElementType{DType::kFloat32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    ElementType{DType::kFloat64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    ElementType{DType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    ElementType{DType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    ElementType{DType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    ElementType{DType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    ElementType{DType::kUInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    ElementType{DType::kUInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    ElementType{DType::kUInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    ElementType{DType::kUInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    ElementType{DType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    ElementType{DType::kComplex64, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64},
    ElementType{DType::kComplex128, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128},
};

ONNXTensorElementDataType TypeOf(DType dtype) {
  return std::ranges::find(kElementTypes, dtype, &ElementType::dtype)->type;
}

std::optional<DType> DTypeOf(ONNXTensorElementDataType type) {
  const auto found = std::ranges::find(kElementTypes, type, &ElementType::type);
  if (found == kElementTypes.end()) return std::nullopt;
  return found->dtype;
}

// ONNX Runtime's text on one line.
Error OrtError(const std::exception& exception) {
  std::string text = exception.what();
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  ErrorCode code = ErrorCode::kBackend;
  const auto* const own = dynamic_cast<const Ort::Exception*>(&exception);
  if (own != nullptr && own->GetOrtErrorCode() == ORT_NO_SUCHFILE)
    code = ErrorCode::kNotFound;
  return {.code = code, .message = std::format("ONNX Runtime: {}", text)};
}

Result<GraphOptimizationLevel> OptimizationLevel(std::string_view name) {
  struct Level {
    std::string_view name;
    GraphOptimizationLevel level;
  };
  constexpr std::array kLevels = {
      Level{"disabled", ORT_DISABLE_ALL}, Level{"basic", ORT_ENABLE_BASIC},
      Level{"extended", ORT_ENABLE_EXTENDED}, Level{"all", ORT_ENABLE_ALL}};
  const auto found = std::ranges::find(kLevels, name, &Level::name);
  if (found != kLevels.end()) return found->level;
  return Fail(ErrorCode::kInvalidArgument,
              std::format("unknown optimization '{}': it is disabled, basic, "
                          "extended or all",
                          name));
}

// Joined by semicolons: to the library the comma that its header speaks of is
// part of a name. Where the list is too long for it, it says so. Before 1.18 it
// does not know the key, and says nothing.
Status DisableOptimizers(const std::vector<std::string>& names,
                         const OrtLibrary& library,
                         Ort::SessionOptions& options) {
  if (names.empty()) return {};
  PARITY_RETURN_IF_ERROR(
      RequireLevel(library, 18, "way to disable single optimizers"));
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ';';
    list += name;
  }
  options.AddConfigEntry("optimization.disable_specified_optimizers",
                         list.c_str());
  return {};
}

// What suits two sides that compute in turn on one machine, once or twice.
void ShareTheMachine(Ort::SessionOptions& options) {
  // The other side may be computing on the same cores.
  options.AddConfigEntry("session.intra_op.allow_spinning", "0");
  // A cold run is dominated by page faults. Without the arena, which grows by
  // doubling, and the memory pattern, which moves everything to new places in
  // the second run, the process's allocator gives the same blocks out again:
  // for a 20 MB matting model at 720p, 500 instead of 710 MB after one run (and
  // instead of 1290 MB after two), and a tenth less processor time.
  options.DisableCpuMemArena();
  options.DisableMemPattern();
}

Result<Ort::SessionOptions> SessionOptions(const LoadRequest& request,
                                           const OrtLibrary& library) {
  PARITY_ASSIGN_OR_RETURN(const GraphOptimizationLevel level,
                          OptimizationLevel(request.optimization));
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(level);
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_ERROR);
  // Given explicitly: by itself it would also bind its threads to cores, which
  // it then fights over with the other side.
  options.SetIntraOpNumThreads(request.threads > 0 ? request.threads
                                                   : CoreCount());
  options.SetInterOpNumThreads(1);
  PARITY_RETURN_IF_ERROR(
      DisableOptimizers(request.disabled_optimizers, library, options));
  if (!request.measured) ShareTheMachine(options);
  if (!request.scratch_folder.empty()) {
    const std::string prefix = std::format(
        "{}/profile-{}", request.scratch_folder, static_cast<int>(::getpid()));
    options.EnableProfiling(prefix.c_str());
  }
  PARITY_RETURN_IF_ERROR(AppendProvider(options, request.provider, library));
  return options;
}

std::vector<std::string> InputNames(const Ort::Session& session) {
  const Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;
  names.reserve(session.GetInputCount());
  for (std::size_t i = 0; i < session.GetInputCount(); ++i)
    names.emplace_back(session.GetInputNameAllocated(i, allocator).get());
  return names;
}

std::vector<std::string> OutputNames(const Ort::Session& session) {
  const Ort::AllocatorWithDefaultOptions allocator;
  std::vector<std::string> names;
  names.reserve(session.GetOutputCount());
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i)
    names.emplace_back(session.GetOutputNameAllocated(i, allocator).get());
  return names;
}

// Borrows the tensor's bytes.
Ort::Value InputValue(const Tensor& tensor) {
  static const Ort::MemoryInfo memory =
      Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  // A null address is refused even for no bytes at all. The interface asks for
  // writable bytes; the worker loop sees a write.
  static std::byte nothing{};
  auto* const bytes = tensor.bytes().empty()
                          ? &nothing
                          : const_cast<std::byte*>(tensor.bytes().data());
  return Ort::Value::CreateTensor(memory, bytes, tensor.bytes().size(),
                                  tensor.shape().data(), tensor.shape().size(),
                                  TypeOf(tensor.dtype()));
}

std::unexpected<Error> NotATensor(const std::string& name,
                                  std::string_view what) {
  return Fail(
      ErrorCode::kUnsupported,
      std::format("output '{}' is {}, which cannot be compared", name, what));
}

// The output as a tensor that keeps `value` alive.
Result<Tensor> OutputTensor(const std::string& name, Ort::Value value) {
  if (!value) return NotATensor(name, "an optional without a value");
  if (!value.IsTensor()) {
    switch (value.GetTypeInfo().GetONNXType()) {
      case ONNX_TYPE_SEQUENCE:
        return NotATensor(name, "a sequence");
      case ONNX_TYPE_MAP:
        return NotATensor(name, "a map");
      case ONNX_TYPE_SPARSETENSOR:
        return NotATensor(name, "a sparse tensor");
      default:
        return NotATensor(name, "no tensor");
    }
  }
  const auto info = value.GetTensorTypeAndShapeInfo();
  if (info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    return NotATensor(name, "a tensor of strings");
  const std::optional<DType> dtype = DTypeOf(info.GetElementType());
  if (!dtype) {
    return NotATensor(name,
                      std::format("a tensor of ONNX element type {}",
                                  static_cast<int>(info.GetElementType())));
  }
  const std::size_t size =
      info.GetElementCount() * static_cast<std::size_t>(ByteSize(*dtype));
  Shape shape = info.GetShape();
  const auto owner = std::make_shared<Ort::Value>(std::move(value));
  const auto* const bytes =
      static_cast<const std::byte*>(owner->GetTensorRawData());
  return Tensor::Borrow(*dtype, std::move(shape), {bytes, size}, owner);
}

std::vector<const char*> Pointers(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

}  // namespace

struct OrtBackend::Session {
  OrtLibrary library;
  Ort::Env environment{nullptr};
  Ort::Session session{nullptr};
  std::vector<std::string> output_names{};
  bool profiling = false;  // until the end of the first run

  // Provider → nodes of it, of the run that has just ended.
  std::map<std::string, std::int64_t> EndProfiling();
};

std::map<std::string, std::int64_t> OrtBackend::Session::EndProfiling() {
  profiling = false;
  Ort::AllocatorWithDefaultOptions allocator;
  const std::filesystem::path path =
      session.EndProfilingAllocated(allocator).get();
  std::map<std::string, std::int64_t> nodes;
  // What cannot be read is not known, which is no reason to fail.
  if (const auto file = FileMapping::Open(path)) {
    const std::span<const std::byte> bytes = (*file)->bytes();
    nodes = CountProviderNodes(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  return nodes;
}

OrtBackend::OrtBackend() = default;
OrtBackend::~OrtBackend() = default;

Result<LoadResult> OrtBackend::Load(const LoadRequest& request) try {
  const Stopwatch time;
  if (request.kind != ModelKind::kOnnx)
    return Fail(ErrorCode::kUnsupported, "ONNX Runtime runs ONNX models only");
  session_.reset();
  PARITY_ASSIGN_OR_RETURN(const OrtLibrary library,
                          LoadOrtLibrary(request.runtime_library));
  Ort::InitApi(library.api);
  if (request.path.empty()) {
    LoadResult result;
    result.version = std::format("ONNX Runtime {}", library.version);
    result.providers = Ort::GetAvailableProviders();
    return result;
  }
  auto loaded = std::make_unique<Session>(Session{.library = library});
  loaded->environment = Ort::Env(ORT_LOGGING_LEVEL_ERROR, "onnx-parity");
  PARITY_ASSIGN_OR_RETURN(const Ort::SessionOptions options,
                          SessionOptions(request, library));
  if (request.taps.empty()) {
    loaded->session =
        Ort::Session(loaded->environment, request.path.c_str(), options);
    loaded->output_names = OutputNames(loaded->session);
  } else {
    PARITY_ASSIGN_OR_RETURN(TappedModel tapped,
                            ReadTappedModel(request.path, request.taps));
    loaded->session = Ort::Session(loaded->environment, tapped.bytes.data(),
                                   tapped.bytes.size(), options);
    loaded->output_names = std::move(tapped.outputs);
  }
  loaded->profiling = !request.scratch_folder.empty();
  LoadResult result{.version = std::format("ONNX Runtime {}", library.version),
                    .providers = Ort::GetAvailableProviders(),
                    .input_names = InputNames(loaded->session),
                    .output_names = loaded->output_names,
                    .kernels = request.provider.empty()
                                   ? std::string(kCpuProvider)
                                   : request.provider};
  session_ = std::move(loaded);
  result.load_ms = time.milliseconds();
  return result;
} catch (const std::exception& exception) {
  return std::unexpected(OrtError(exception));
}

Result<RunResult> OrtBackend::Run(const RunRequest& request) try {
  if (session_ == nullptr)
    return Fail(ErrorCode::kInvalidArgument, "no model is loaded");
  std::vector<const char*> input_names;
  std::vector<Ort::Value> inputs;
  for (const NamedTensor& input : request.inputs) {
    input_names.push_back(input.name.c_str());
    inputs.push_back(InputValue(input.tensor));
  }
  const std::vector<std::string>& wanted = request.output_names.empty()
                                               ? session_->output_names
                                               : request.output_names;
  const std::vector<const char*> output_names = Pointers(wanted);
  const auto run = [&](double& milliseconds) {
    const Stopwatch time;
    std::vector<Ort::Value> outputs = session_->session.Run(
        Ort::RunOptions{nullptr}, input_names.data(), inputs.data(),
        inputs.size(), output_names.data(), output_names.size());
    milliseconds = time.milliseconds();
    return outputs;
  };
  RunResult result;
  std::vector<Ort::Value> outputs = run(result.run_ms);
  if (session_->profiling) result.provider_nodes = session_->EndProfiling();
  for (int repeat = 0; repeat < request.repeats; ++repeat) {
    outputs.clear();  // two sets of them would count as memory it needs
    outputs = run(result.repeat_ms.emplace_back());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                            OutputTensor(wanted[i], std::move(outputs[i])));
    result.outputs.push_back({.name = wanted[i], .tensor = std::move(tensor)});
  }
  return result;
} catch (const std::exception& exception) {
  return std::unexpected(OrtError(exception));
}

}  // namespace parity
