#include "worker/worker_client.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "worker/frame.h"
#include "worker/last_words.h"
#include "worker/messages.h"
#include "worker/subprocess.h"
#include "worker/trace_tensors.h"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// How often a wait looks whether the user wants to stop.
constexpr milliseconds kSlice(50);
// A worker that has closed its connection is about to end.
constexpr milliseconds kGrace(2000);

constexpr std::string_view kStarting = "while starting";
constexpr std::string_view kLoading = "while loading the model";
constexpr std::string_view kRunning = "while running the model";

std::string Seconds(milliseconds time) {
  return std::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

std::string Limit(std::int64_t bytes) {
  return std::format("limit {} MB", bytes / 1'000'000);
}

std::string LastWordsClause(std::string_view words) {
  return words.empty() ? "; it printed nothing"
                       : std::format("; its last words: {}", words);
}

// The tensors that came with a reply, in the order it names them.
Result<NamedTensors> InOrder(const NamedTensors& tensors,
                             const std::vector<std::string>& names) {
  const std::ptrdiff_t count = std::ranges::count_if(
      tensors,
      [](const NamedTensor& tensor) { return !IsTraceTensor(tensor.name); });
  if (count != std::ssize(names)) {
    return Fail(ErrorCode::kCorrupt,
                std::format("{} outputs for {} names", count, names.size()));
  }
  NamedTensors ordered;
  ordered.reserve(names.size());
  for (const std::string& name : names) {
    const Tensor* const tensor = FindTensor(tensors, name);
    if (tensor == nullptr) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("output '{}' is missing", name));
    }
    ordered.push_back({.name = name, .tensor = *tensor});
  }
  return ordered;
}

// An image of the request's inputs: the caller's own where there is one.
Result<std::shared_ptr<const SharedTensors>> InputImage(
    const RunRequest& request) {
  if (request.shared_inputs != nullptr) return request.shared_inputs;
  return Share(request.inputs);
}

}  // namespace

WorkerClient::WorkerClient(WorkerOptions options)
    : options_(std::move(options)) {}

Status WorkerClient::Start() {
  if (process_ != nullptr) return {};
  backend_ = options_.program.filename().string();
  greeted_ = false;
  PARITY_ASSIGN_OR_RETURN(
      Subprocess process,
      Subprocess::Start({.program = options_.program,
                         .arguments = options_.arguments,
                         .memory_limit_bytes = options_.memory_limit_bytes}));
  process_ = std::make_unique<Subprocess>(std::move(process));
  const Status sent = SendFrame(
      process_->socket(), Encode(WorkerRequest{.kind = RequestKind::kHello}),
      -1, Waiter(kStarting, options_.timeout));
  if (!sent) return std::unexpected(ConnectionError(sent.error(), kStarting));
  return {};
}

Status WorkerClient::Greet() {
  PARITY_RETURN_IF_ERROR(Start());
  if (greeted_) return {};
  PARITY_ASSIGN_OR_RETURN(
      const Frame frame,
      Receive(Waiter(kStarting, options_.timeout), kStarting));
  auto hello = DecodeHelloReply(frame.text);
  if (!hello) return std::unexpected(ReplyError(hello.error(), kStarting));
  if (hello->protocol != kProtocolVersion) {
    return std::unexpected(BrokeProtocol(
        std::format("it speaks version {} of it, not {}: {} belongs to another "
                    "version of onnx-parity",
                    hello->protocol, kProtocolVersion,
                    options_.program.string()),
        kStarting));
  }
  backend_ = std::move(hello->backend);
  greeted_ = true;
  return {};
}

Result<LoadResult> WorkerClient::Load(const LoadRequest& request) {
  PARITY_RETURN_IF_ERROR(Greet());
  std::shared_ptr<const SharedTensors> weights;
  if (!request.weights.empty()) {
    PARITY_ASSIGN_OR_RETURN(weights,
                            SharedTensors::Make(request.weights, "weights"));
  }
  PARITY_ASSIGN_OR_RETURN(
      const Frame frame,
      Call({.kind = RequestKind::kLoad, .load = request},
           weights == nullptr ? -1 : weights->descriptor(), kLoading));
  auto reply = DecodeLoadReply(frame.text);
  if (!reply) return std::unexpected(ReplyError(reply.error(), kLoading));
  return reply;
}

Result<RunResult> WorkerClient::Run(const RunRequest& request) {
  if (process_ == nullptr || !greeted_) {
    return Fail(ErrorCode::kWorkerDied,
                std::format("{} has no model loaded", Who()));
  }
  PARITY_ASSIGN_OR_RETURN(const std::shared_ptr<const SharedTensors> inputs,
                          InputImage(request));
  PARITY_ASSIGN_OR_RETURN(Frame frame,
                          Call({.kind = RequestKind::kRun,
                                .output_names = request.output_names,
                                .trace = request.trace,
                                .repeats = request.repeats},
                               inputs->descriptor(), kRunning));
  auto reply = DecodeRunReply(frame.text);
  if (!reply) return std::unexpected(ReplyError(reply.error(), kRunning));
  const auto image =
      SharedTensors::Open(std::move(frame.descriptor), "the outputs");
  if (!image)
    return std::unexpected(BrokeProtocol(image.error().message, kRunning));
  auto outputs = InOrder((*image)->tensors(), reply->output_names);
  if (!outputs)
    return std::unexpected(BrokeProtocol(outputs.error().message, kRunning));
  if (Status traced = CompleteTrace((*image)->tensors(), reply->trace); !traced)
    return std::unexpected(BrokeProtocol(traced.error().message, kRunning));
  return RunResult{.outputs = *std::move(outputs),
                   .run_ms = reply->run_ms,
                   .repeat_ms = std::move(reply->repeat_ms),
                   .provider_nodes = std::move(reply->provider_nodes),
                   .changed_inputs = std::move(reply->changed_inputs),
                   .peak_rss_bytes = reply->peak_rss_bytes,
                   .trace = std::move(reply->trace)};
}

void WorkerClient::Kill() {
  if (process_ != nullptr) process_->Kill();
}

Result<ExitStatus> WorkerClient::Quit() {
  constexpr std::string_view kQuitting = "while ending";
  PARITY_RETURN_IF_ERROR(Greet());
  const Status sent = SendFrame(
      process_->socket(), Encode(WorkerRequest{.kind = RequestKind::kQuit}), -1,
      Waiter(kQuitting, options_.timeout));
  if (!sent) return std::unexpected(ConnectionError(sent.error(), kQuitting));
  return End(kGrace).status;
}

Result<Frame> WorkerClient::Call(const WorkerRequest& request, int descriptor,
                                 std::string_view doing) {
  // One answer for several runs may take as long as several answers.
  const FrameWaiter wait =
      Waiter(doing, options_.timeout * (1 + std::max(0, request.repeats)));
  const Status sent =
      SendFrame(process_->socket(), Encode(request), descriptor, wait);
  if (!sent) return std::unexpected(ConnectionError(sent.error(), doing));
  return Receive(wait, doing);
}

Result<Frame> WorkerClient::Receive(const FrameWaiter& wait,
                                    std::string_view doing) {
  auto received = ReceiveFrame(process_->socket(), wait);
  if (!received)
    return std::unexpected(ConnectionError(received.error(), doing));
  std::optional<Frame> frame = *std::move(received);
  if (!frame) return std::unexpected(Died(doing));
  return *std::move(frame);
}

FrameWaiter WorkerClient::Waiter(std::string_view doing, milliseconds timeout) {
  const bool endless = timeout <= milliseconds(0);
  const Clock::time_point deadline = Clock::now() + timeout;
  return
      [this, doing, timeout, endless, deadline](Direction direction) -> Status {
        while (true) {
          if (Interrupted())
            return Fail(ErrorCode::kInterrupted, "interrupted");
          milliseconds slice = kSlice;
          if (!endless) {
            const auto left =
                std::chrono::ceil<milliseconds>(deadline - Clock::now());
            slice = std::clamp(left, milliseconds(0), kSlice);
          }
          if (process_->AwaitSocket(direction, slice)) return {};
          if (!endless && Clock::now() >= deadline)
            return std::unexpected(TimedOut(doing, timeout));
        }
      };
}

std::string WorkerClient::Who() const {
  return std::format(
      "the {} worker ({})", options_.side,
      backend_.empty() ? options_.program.filename().string() : backend_);
}

bool WorkerClient::Interrupted() const {
  return options_.interrupted != nullptr && options_.interrupted->load();
}

WorkerClient::Ending WorkerClient::End(milliseconds grace) {
  Ending ending{.status = process_->Wait(grace)};
  ending.last_words = LastWords(process_->output_tail());
  process_.reset();
  return ending;
}

Error WorkerClient::ConnectionError(Error error, std::string_view doing) {
  switch (error.code) {
    case ErrorCode::kCorrupt:
      return BrokeProtocol(error.message, doing);
    case ErrorCode::kIo:
      return Died(doing);
    case ErrorCode::kInterrupted:
      process_.reset();
      return error;
    default:
      return error;
  }
}

Error WorkerClient::Died(std::string_view doing) {
  const auto [status, words] = End(kGrace);
  // The signal handler that sets the flag also kills the workers.
  if (Interrupted())
    return {.code = ErrorCode::kInterrupted, .message = "interrupted"};
  if (MentionsNoMemory(words)) return OutOfMemory(words, doing);
  if (status.killed_here) {
    return {.code = ErrorCode::kWorkerDied,
            .message = std::format("{} closed its connection {}{}", Who(),
                                   doing, LastWordsClause(words))};
  }
  std::string message =
      std::format("{} {} {}", Who(), status.Describe(), doing);
  if (status.signal == SIGKILL)
    message += " (the system may have run out of memory)";
  // Code that does not check its allocations just crashes.
  if (status.signal != 0 && options_.memory_limit_bytes > 0) {
    message += std::format(", perhaps for lack of memory ({})",
                           Limit(options_.memory_limit_bytes));
  }
  message += LastWordsClause(words);
  return {.code = ErrorCode::kWorkerDied, .message = std::move(message)};
}

Error WorkerClient::TimedOut(std::string_view doing, milliseconds timeout) {
  const Ending ending = End(milliseconds(0));
  return {.code = ErrorCode::kWorkerDied,
          .message = std::format("{} did not answer within {} {} (--timeout){}",
                                 Who(), Seconds(timeout), doing,
                                 LastWordsClause(ending.last_words))};
}

Error WorkerClient::BrokeProtocol(std::string_view how,
                                  std::string_view doing) {
  const Ending ending = End(milliseconds(0));
  return {
      .code = ErrorCode::kWorkerDied,
      .message = std::format("{} broke the worker protocol {}: {}{}", Who(),
                             doing, how, LastWordsClause(ending.last_words))};
}

Error WorkerClient::ReplyError(Error error, std::string_view doing) {
  if (error.code == ErrorCode::kWorkerDied)
    return BrokeProtocol(error.message, doing);
  if (error.code == ErrorCode::kBackend && MentionsNoMemory(error.message))
    return OutOfMemory(error.message, doing);
  return error;
}

Error WorkerClient::OutOfMemory(std::string_view words,
                                std::string_view doing) const {
  const std::string limit =
      options_.memory_limit_bytes > 0
          ? std::format(" ({}, --memory-limit)",
                        Limit(options_.memory_limit_bytes))
          : "";
  return {.code = ErrorCode::kWorkerDied,
          .message = std::format("{} ran out of memory{} {}: {}", Who(), limit,
                                 doing, words)};
}

}  // namespace parity
