#include "worker/messages.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {
namespace {

using Json = nlohmann::json;

template <class T>
struct Named {
  T value;
  std::string_view name;
};

constexpr std::array kRequestNames = {
    Named{RequestKind::kHello, "hello"}, Named{RequestKind::kLoad, "load"},
    Named{RequestKind::kRun, "run"}, Named{RequestKind::kQuit, "quit"}};

constexpr std::array kModelNames = {
    Named{ModelKind::kOnnx, "onnx"},
    Named{ModelKind::kTorchScript, "torchscript"},
    Named{ModelKind::kNetwork, "network"}};

constexpr std::array kErrorNames = {
    Named{ErrorCode::kNotFound, "not_found"},
    Named{ErrorCode::kCorrupt, "corrupt"},
    Named{ErrorCode::kUnsupported, "unsupported"},
    Named{ErrorCode::kIncompatible, "incompatible"},
    Named{ErrorCode::kInvalidArgument, "invalid_argument"},
    Named{ErrorCode::kIo, "io"},
    Named{ErrorCode::kBackend, "backend"},
    Named{ErrorCode::kWorkerDied, "worker_died"},
    Named{ErrorCode::kInterrupted, "interrupted"}};

template <class T, std::size_t N>
std::string NameOf(const std::array<Named<T>, N>& names, T value) {
  const auto found = std::ranges::find(names, value, &Named<T>::value);
  return std::string(found->name);
}

template <class T, std::size_t N>
std::optional<T> ValueOf(const std::array<Named<T>, N>& names,
                         std::string_view name) {
  const auto found = std::ranges::find(names, name, &Named<T>::name);
  if (found == names.end()) return std::nullopt;
  return found->value;
}

std::string Text(const Json& json) {
  // Names of a damaged model need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Reads the members of one JSON object. The first that is missing or of another
// type is remembered and makes status() an error; reads give empty values.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  std::string String(const char* key) {
    const Json* const member = Find(key, Json::value_t::string);
    return member == nullptr ? std::string() : member->get<std::string>();
  }
  std::int64_t Integer(const char* key) {
    const auto member = object_.find(key);
    if (member == object_.end() || !member->is_number_integer()) {
      Refuse(key);
      return 0;
    }
    return member->get<std::int64_t>();
  }
  double Number(const char* key) {
    const auto member = object_.find(key);
    if (member == object_.end() || !member->is_number()) {
      Refuse(key);
      return 0;
    }
    return member->get<double>();
  }
  bool Boolean(const char* key) {
    const Json* const member = Find(key, Json::value_t::boolean);
    return member != nullptr && member->get<bool>();
  }
  std::vector<std::int64_t> Integers(const char* key) {
    std::vector<std::int64_t> integers;
    const Json* const member = Find(key, Json::value_t::array);
    if (member == nullptr) return integers;
    for (const Json& entry : *member) {
      if (entry.is_number_integer()) {
        integers.push_back(entry.get<std::int64_t>());
      } else {
        Refuse(key);
      }
    }
    return integers;
  }
  std::vector<double> Numbers(const char* key) {
    std::vector<double> numbers;
    const Json* const member = Find(key, Json::value_t::array);
    if (member == nullptr) return numbers;
    for (const Json& entry : *member) {
      if (entry.is_number()) {
        numbers.push_back(entry.get<double>());
      } else {
        Refuse(key);
      }
    }
    return numbers;
  }
  std::map<std::string, std::int64_t> IntegerMap(const char* key) {
    std::map<std::string, std::int64_t> integers;
    const Json* const member = Find(key, Json::value_t::object);
    if (member == nullptr) return integers;
    for (const auto& [name, value] : member->items()) {
      if (value.is_number_integer()) {
        integers[name] = value.get<std::int64_t>();
      } else {
        Refuse(key);
      }
    }
    return integers;
  }
  // The objects of an array; null when it is none.
  const Json* Objects(const char* key) {
    const Json* const member = Find(key, Json::value_t::array);
    if (member == nullptr) return nullptr;
    for (const Json& entry : *member) {
      if (entry.is_object()) continue;
      Refuse(key);
      return nullptr;
    }
    return member;
  }
  std::vector<std::string> Strings(const char* key) {
    std::vector<std::string> strings;
    const Json* const member = Find(key, Json::value_t::array);
    if (member == nullptr) return strings;
    for (const Json& entry : *member) {
      if (entry.is_string()) {
        strings.push_back(entry.get<std::string>());
      } else {
        Refuse(key);
      }
    }
    return strings;
  }
  std::map<std::string, std::string> StringMap(const char* key) {
    std::map<std::string, std::string> strings;
    const Json* const member = Find(key, Json::value_t::object);
    if (member == nullptr) return strings;
    for (const auto& [name, value] : member->items()) {
      if (value.is_string()) {
        strings[name] = value.get<std::string>();
      } else {
        Refuse(key);
      }
    }
    return strings;
  }
  void Refuse(const char* key) {
    if (refused_.empty()) refused_ = key;
  }
  [[nodiscard]] Status status() const {
    if (refused_.empty()) return {};
    return Fail(ErrorCode::kWorkerDied,
                std::format("a message without a proper '{}'", refused_));
  }

 private:
  const Json* Find(const char* key, Json::value_t type) {
    const auto member = object_.find(key);
    if (member != object_.end() && member->type() == type) return &*member;
    Refuse(key);
    return nullptr;
  }

  const Json& object_;
  std::string refused_;
};

Result<Json> ParseObject(std::string_view text) {
  Json object = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object())
    return Fail(ErrorCode::kWorkerDied, "a message that is no JSON object");
  return object;
}

// The object of a reply, or the error that it carries.
Result<Json> ParseReply(std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(Json object, ParseObject(text));
  const auto found = object.find("error");
  if (found == object.end()) return object;
  if (!found->is_object())
    return Fail(ErrorCode::kWorkerDied, "a message without a proper 'error'");
  Members error(*found);
  const std::optional<ErrorCode> code =
      ValueOf(kErrorNames, error.String("code"));
  std::string message = error.String("message");
  PARITY_RETURN_IF_ERROR(error.status());
  return Fail(code.value_or(ErrorCode::kBackend), std::move(message));
}

Json LoadMembers(const LoadRequest& load) {
  return {{"kind", NameOf(kModelNames, load.kind)},
          {"path", load.path},
          {"attributes", load.attributes},
          {"precision", load.precision},
          {"output_names", load.output_names},
          {"threads", load.threads},
          {"provider", load.provider},
          {"optimization", load.optimization},
          {"disabled_optimizers", load.disabled_optimizers},
          {"taps", load.taps},
          {"runtime_library", load.runtime_library},
          {"measured", load.measured},
          {"scratch_folder", load.scratch_folder},
          {"reference_kernels", load.reference_kernels}};
}

LoadRequest DecodeLoad(Members& members) {
  LoadRequest load;
  const std::optional<ModelKind> kind =
      ValueOf(kModelNames, members.String("kind"));
  if (!kind) members.Refuse("kind");
  load.kind = kind.value_or(ModelKind::kOnnx);
  load.path = members.String("path");
  load.attributes = members.StringMap("attributes");
  load.precision = members.String("precision");
  load.output_names = members.Strings("output_names");
  load.threads = static_cast<int>(members.Integer("threads"));
  load.provider = members.String("provider");
  load.optimization = members.String("optimization");
  load.disabled_optimizers = members.Strings("disabled_optimizers");
  load.taps = members.Strings("taps");
  load.runtime_library = members.String("runtime_library");
  load.measured = members.Boolean("measured");
  load.scratch_folder = members.String("scratch_folder");
  load.reference_kernels = members.String("reference_kernels");
  return load;
}

Json TraceMembers(const std::vector<TracedValue>& trace) {
  Json values = Json::array();
  for (const TracedValue& value : trace) {
    values.push_back({{"name", value.name},
                      {"op", value.op},
                      {"module", value.module},
                      {"dtype", Name(value.dtype)},
                      {"shape", value.shape}});
  }
  return values;
}

Result<std::vector<TracedValue>> DecodeTrace(Members& members) {
  std::vector<TracedValue> trace;
  const Json* const values = members.Objects("trace");
  if (values == nullptr) return trace;
  for (const Json& object : *values) {
    Members value(object);
    TracedValue next{.name = value.String("name"),
                     .op = value.String("op"),
                     .module = value.String("module")};
    const std::optional<DType> dtype = DTypeFromName(value.String("dtype"));
    if (!dtype) value.Refuse("dtype");
    next.dtype = dtype.value_or(DType::kFloat32);
    next.shape = value.Integers("shape");
    PARITY_RETURN_IF_ERROR(value.status());
    trace.push_back(std::move(next));
  }
  return trace;
}

}  // namespace

std::string Encode(const WorkerRequest& request) {
  Json object = {{"request", NameOf(kRequestNames, request.kind)}};
  switch (request.kind) {
    case RequestKind::kHello:
      object["protocol"] = request.protocol;
      object["memory_limit_bytes"] = request.memory_limit_bytes;
      break;
    case RequestKind::kLoad:
      object.update(LoadMembers(request.load));
      break;
    case RequestKind::kRun:
      object["outputs"] = request.output_names;
      object["trace"] = request.trace;
      object["repeats"] = request.repeats;
      break;
    case RequestKind::kQuit:
      break;
  }
  return Text(object);
}

std::string Encode(const HelloReply& reply) {
  return Text({{"protocol", reply.protocol}, {"backend", reply.backend}});
}

std::string Encode(const LoadResult& reply) {
  return Text({{"version", reply.version},
               {"providers", reply.providers},
               {"inputs", reply.input_names},
               {"outputs", reply.output_names},
               {"notes", reply.notes},
               {"kernels", reply.kernels},
               {"load_ms", reply.load_ms}});
}

std::string Encode(const RunReply& reply) {
  Json object = {{"outputs", reply.output_names},
                 {"changed_inputs", reply.changed_inputs},
                 {"run_ms", reply.run_ms},
                 {"peak_rss_bytes", reply.peak_rss_bytes}};
  if (!reply.repeat_ms.empty()) object["repeat_ms"] = reply.repeat_ms;
  if (!reply.provider_nodes.empty())
    object["provider_nodes"] = reply.provider_nodes;
  if (!reply.trace.empty()) object["trace"] = TraceMembers(reply.trace);
  return Text(object);
}

std::string Encode(const Error& error) {
  return Text({{"error",
                {{"code", NameOf(kErrorNames, error.code)},
                 {"message", error.message}}}});
}

Result<WorkerRequest> DecodeRequest(std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(const Json object, ParseObject(text));
  Members members(object);
  WorkerRequest request;
  const std::optional<RequestKind> kind =
      ValueOf(kRequestNames, members.String("request"));
  if (!kind) members.Refuse("request");
  request.kind = kind.value_or(RequestKind::kQuit);
  switch (request.kind) {
    case RequestKind::kHello:
      request.protocol = static_cast<int>(members.Integer("protocol"));
      request.memory_limit_bytes = members.Integer("memory_limit_bytes");
      break;
    case RequestKind::kLoad:
      request.load = DecodeLoad(members);
      break;
    case RequestKind::kRun:
      request.output_names = members.Strings("outputs");
      request.trace = members.Boolean("trace");
      request.repeats = static_cast<int>(members.Integer("repeats"));
      break;
    case RequestKind::kQuit:
      break;
  }
  PARITY_RETURN_IF_ERROR(members.status());
  return request;
}

Result<HelloReply> DecodeHelloReply(std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(const Json object, ParseReply(text));
  Members members(object);
  HelloReply reply{.protocol = static_cast<int>(members.Integer("protocol")),
                   .backend = members.String("backend")};
  PARITY_RETURN_IF_ERROR(members.status());
  return reply;
}

Result<LoadResult> DecodeLoadReply(std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(const Json object, ParseReply(text));
  Members members(object);
  LoadResult reply;
  reply.version = members.String("version");
  reply.providers = members.Strings("providers");
  reply.input_names = members.Strings("inputs");
  reply.output_names = members.Strings("outputs");
  reply.notes = members.Strings("notes");
  reply.kernels = members.String("kernels");
  reply.load_ms = members.Number("load_ms");
  PARITY_RETURN_IF_ERROR(members.status());
  return reply;
}

Result<RunReply> DecodeRunReply(std::string_view text) {
  PARITY_ASSIGN_OR_RETURN(const Json object, ParseReply(text));
  Members members(object);
  RunReply reply;
  reply.output_names = members.Strings("outputs");
  reply.changed_inputs = members.Strings("changed_inputs");
  reply.run_ms = members.Number("run_ms");
  reply.peak_rss_bytes = members.Integer("peak_rss_bytes");
  if (object.contains("repeat_ms"))
    reply.repeat_ms = members.Numbers("repeat_ms");
  if (object.contains("provider_nodes"))
    reply.provider_nodes = members.IntegerMap("provider_nodes");
  if (object.contains("trace")) {
    PARITY_ASSIGN_OR_RETURN(reply.trace, DecodeTrace(members));
  }
  PARITY_RETURN_IF_ERROR(members.status());
  return reply;
}

}  // namespace parity
