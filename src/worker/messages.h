// The JSON texts of the worker protocol: docs/worker_protocol.md. Both sides
// decode what they receive without trusting it.
#ifndef PARITY_WORKER_MESSAGES_H_
#define PARITY_WORKER_MESSAGES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "parity/error.h"

namespace parity {

// Raised with every change that an older worker would misunderstand.
inline constexpr int kProtocolVersion = 3;

enum class RequestKind : std::uint8_t { kHello, kLoad, kRun, kQuit };

struct WorkerRequest {
  RequestKind kind = RequestKind::kHello;
  int protocol = kProtocolVersion;      // kHello
  std::int64_t memory_limit_bytes = 0;  // kHello; 0 = none
  LoadRequest load{};                   // kLoad; its weights travel beside it
  std::vector<std::string> output_names{};  // kRun; its inputs travel beside it
  bool trace = false;                       // kRun
  int repeats = 0;                          // kRun
};

struct HelloReply {
  int protocol = 0;
  std::string backend{};  // "ONNX Runtime"
};

// The tensors of a RunResult travel beside it; here are their names, in order.
struct RunReply {
  std::vector<std::string> output_names{};
  std::vector<std::string> changed_inputs{};
  double run_ms = 0;
  std::vector<double> repeat_ms{};
  std::map<std::string, std::int64_t> provider_nodes{};
  std::int64_t peak_rss_bytes = 0;
  std::vector<TracedValue> trace{};  // without sketches and tensors
};

[[nodiscard]] std::string Encode(const WorkerRequest& request);
[[nodiscard]] std::string Encode(const HelloReply& reply);
[[nodiscard]] std::string Encode(const LoadResult& reply);
[[nodiscard]] std::string Encode(const RunReply& reply);
[[nodiscard]] std::string Encode(const Error& error);

// Errors: kWorkerDied for text that is no such message; for the replies also
// the error that the message carries.
[[nodiscard]] Result<WorkerRequest> DecodeRequest(std::string_view text);
[[nodiscard]] Result<HelloReply> DecodeHelloReply(std::string_view text);
[[nodiscard]] Result<LoadResult> DecodeLoadReply(std::string_view text);
[[nodiscard]] Result<RunReply> DecodeRunReply(std::string_view text);

}  // namespace parity

#endif  // PARITY_WORKER_MESSAGES_H_
