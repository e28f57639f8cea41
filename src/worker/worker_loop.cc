#include "worker/worker_loop.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <ios>
#include <limits>
#include <memory>
#include <optional>
#include <print>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "worker/frame.h"
#include "worker/messages.h"
#include "worker/subprocess.h"
#include "worker/trace_tensors.h"

namespace parity {
namespace {

struct Reply {
  std::string text{};
  std::shared_ptr<const SharedTensors> tensors{};  // null: none

  [[nodiscard]] int descriptor() const {
    return tensors == nullptr ? -1 : tensors->descriptor();
  }
};

// The largest resident set of this process so far; 0 where /proc is not there.
// getrusage() would count what the process was before exec, too.
std::int64_t PeakRssBytes() {
  std::ifstream status("/proc/self/status");
  std::string key;
  while (status >> key) {
    std::int64_t kib = 0;
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

// Names of the tensors whose bytes differ. Both are in the same order.
std::vector<std::string> Differences(const NamedTensors& originals,
                                     const NamedTensors& copies) {
  std::vector<std::string> names;
  for (const auto& [original, copy] : std::views::zip(originals, copies)) {
    // memcmp, since comparing std::byte by std::byte takes five times as long.
    const auto before = original.tensor.bytes();
    const auto after = copy.tensor.bytes();
    if (!before.empty() &&
        std::memcmp(before.data(), after.data(), before.size()) != 0) {
      names.push_back(original.name);
    }
  }
  return names;
}

Result<Reply> Load(Backend& backend, WorkerRequest request, Frame frame) {
  if (frame.descriptor.valid()) {
    PARITY_ASSIGN_OR_RETURN(
        const auto weights,
        SharedTensors::Open(std::move(frame.descriptor), "the weights"));
    request.load.weights = weights->tensors();
  }
  PARITY_ASSIGN_OR_RETURN(const LoadResult result, backend.Load(request.load));
  return Reply{.text = Encode(result)};
}

Result<Reply> Run(Backend& backend, WorkerRequest request, Frame frame) {
  PARITY_ASSIGN_OR_RETURN(
      const auto inputs,
      SharedTensors::Open(std::move(frame.descriptor), "the inputs"));
  RunRequest run{.output_names = std::move(request.output_names),
                 .trace = request.trace,
                 .repeats = request.repeats};
  PARITY_ASSIGN_OR_RETURN(run.inputs, inputs->CopyOnWrite());
  PARITY_ASSIGN_OR_RETURN(RunResult result, backend.Run(run));
  RunReply reply{.output_names = {},
                 .changed_inputs = std::move(result.changed_inputs),
                 .run_ms = result.run_ms,
                 .repeat_ms = std::move(result.repeat_ms),
                 .provider_nodes = std::move(result.provider_nodes)};
  for (std::string& name : Differences(inputs->tensors(), run.inputs)) {
    if (!std::ranges::contains(reply.changed_inputs, name))
      reply.changed_inputs.push_back(std::move(name));
  }
  for (const NamedTensor& output : result.outputs)
    reply.output_names.push_back(output.name);
  PARITY_RETURN_IF_ERROR(AppendTrace(result.trace, result.outputs));
  reply.trace = std::move(result.trace);
  PARITY_ASSIGN_OR_RETURN(auto outputs,
                          SharedTensors::Make(result.outputs, "outputs"));
  reply.peak_rss_bytes = PeakRssBytes();
  return Reply{.text = Encode(reply), .tensors = std::move(outputs)};
}

Result<Reply> Answer(Backend& backend, WorkerRequest request, Frame frame) {
  switch (request.kind) {
    case RequestKind::kHello:
      return Reply{.text = Encode(HelloReply{.protocol = kProtocolVersion,
                                             .backend = backend.name()})};
    case RequestKind::kLoad:
      return Load(backend, std::move(request), std::move(frame));
    case RequestKind::kRun:
      return Run(backend, std::move(request), std::move(frame));
    case RequestKind::kQuit:
      break;
  }
  return Fail(ErrorCode::kUnsupported, "a request without an answer");
}

// Exceptions end here. The client recognises a lack of memory by the text.
Result<Reply> AnswerSafely(Backend& backend, WorkerRequest request,
                           Frame frame) {
  try {
    return Answer(backend, std::move(request), std::move(frame));
  } catch (const std::exception& exception) {
    return Fail(ErrorCode::kBackend, exception.what());
  } catch (...) {
    return Fail(ErrorCode::kBackend, "an exception of unknown type");
  }
}

int Complain(std::string_view what) {
  std::println(stderr, "worker: {}", what);
  return 2;
}

}  // namespace

int RunWorkerLoop(Backend& backend) {
  if (!ClaimWorkerSocket()) {
    return Complain(
        "this program is started by onnx-parity, not by hand: there is no "
        "connection to it");
  }
  const FrameWaiter wait = WaitForever(kWorkerSocket);
  while (true) {
    Result<std::optional<Frame>> received = ReceiveFrame(kWorkerSocket, wait);
    if (!received) return Complain(received.error().message);
    std::optional<Frame> frame = *std::move(received);
    if (!frame) return 0;
    Result<WorkerRequest> request = DecodeRequest(frame->text);
    if (!request) return Complain(request.error().message);
    if (request->kind == RequestKind::kQuit) return 0;
    const Result<Reply> reply =
        AnswerSafely(backend, *std::move(request), *std::move(frame));
    const Status sent =
        reply ? SendFrame(kWorkerSocket, reply->text, reply->descriptor(), wait)
              : SendFrame(kWorkerSocket, Encode(reply.error()), -1, wait);
    if (!sent) return Complain(sent.error().message);
  }
}

}  // namespace parity
