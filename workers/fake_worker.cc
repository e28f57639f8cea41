// A worker without a runtime, for tests: returns its inputs as outputs, and
// fails in a chosen way at a chosen stage.
//
//   onnx-parity-fake STAGE DEED    STAGE: hello, load, run; DEED: see
//   FindDeed()
//
//   onnx-parity-fake parent        starts a worker and holds it
//
// The first through the environment, for tests of the whole tool:
// ONNX_PARITY_FAKE="STAGE DEED" or "STAGE DEED PROGRAM", where the last makes
// it true only under that file name (a link to this program).
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <format>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "base/file_mapping.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "tensor/value_sketch.h"
#include "worker/frame.h"
#include "worker/subprocess.h"
#include "worker/worker_loop.h"

namespace parity {
namespace {

[[noreturn]] void Hang() {
  while (true) std::this_thread::sleep_for(std::chrono::hours(1));
}

[[noreturn]] void Segfault() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
  std::abort();
}

[[noreturn]] void Abort() {
  std::cerr << "an assertion failed\n" << std::flush;
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void EatMemory() {
  std::vector<std::unique_ptr<char[]>> blocks;
  constexpr std::size_t kBlock = std::size_t{64} << 20;
  while (true) {
    blocks.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    // Every page, as a computation would.
    std::memset(blocks.back().get(), 1, kBlock);
  }
}

// As a library that lets the exception escape on a thread of its own.
void EatMemoryOnAThread() { std::thread(EatMemory).join(); }

void SendRaw(std::string_view bytes) {
  [[maybe_unused]] const ssize_t sent =
      ::send(kWorkerSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

void SendGarbage() {
  SendRaw("Hello, I am a library that prints to any descriptor\n");
  Hang();
}

void SendHalf() {
  SendRaw(std::string_view("PWF1\x40\0\0\0\0\0\0\0\0\0\0\0{\"outputs\"", 26));
  ::_exit(0);
}

void SendText(std::string_view text, int descriptor = -1) {
  [[maybe_unused]] const Status sent =
      SendFrame(kWorkerSocket, text, descriptor, WaitForever(kWorkerSocket));
  Hang();
}

void SendUnsealed() {
  const UniqueFd descriptor(::memfd_create("outputs", MFD_CLOEXEC));
  SendText(
      R"({"outputs":[],"changed_inputs":[],"run_ms":1,"peak_rss_bytes":1})",
      descriptor.get());
}

void SendTooFewOutputs() {
  const auto none = SharedTensors::Make({}, "outputs");
  SendText(
      R"({"outputs":["x"],"changed_inputs":[],"run_ms":1,"peak_rss_bytes":1})",
      none ? (*none)->descriptor() : -1);
}

void CloseConnection() {
  ::close(kWorkerSocket);
  Hang();
}

// A program of the worker's own that would outlive it, holding its output open.
void LeaveChild() {
  if (::fork() == 0) Hang();
}

void PrintALot() {
  const std::string line(999, '.');
  for (int i = 0; i < 10'000; ++i) std::cout << line << '\n';
  for (int i = 0; i < 10'000; ++i)
    std::cerr << "Schema error: operator " << i << " is there twice\n";
  std::cout << std::flush;
}

[[noreturn]] void Throw() { throw std::runtime_error("thrown by a library"); }

void (*FindDeed(std::string_view name))() {
  static const std::map<std::string_view, void (*)()> deeds = {
      {"segfault", Segfault},
      {"abort", Abort},
      {"exit", [] { ::_exit(134); }},
      {"kill", [] { std::raise(SIGKILL); }},
      {"hang", Hang},
      {"memory", EatMemory},
      {"thread-memory", EatMemoryOnAThread},
      {"throw", Throw},
      {"garbage", SendGarbage},
      {"half", SendHalf},
      {"no-json", [] { SendText("[1"); }},
      {"no-members", [] { SendText("{}"); }},
      {"unsealed", SendUnsealed},
      {"too-few", SendTooFewOutputs},
      {"close", CloseConnection},
      {"child",
       [] {
         LeaveChild();
         Abort();
       }},
      {"child-hang",
       [] {
         LeaveChild();
         Hang();
       }},
      {"flood", PrintALot},
      {"flood-abort",
       [] {
         PrintALot();
         Abort();
       }},
      {"none", [] {}},
  };
  const auto found = deeds.find(name);
  return found == deeds.end() ? nullptr : found->second;
}

struct Script {
  std::string stage;
  std::string deed;
};

class EchoBackend : public Backend {
 public:
  explicit EchoBackend(Script script) : script_(std::move(script)) {}

  [[nodiscard]] std::string name() const override {
    Act("hello");
    return "Fake";
  }

  [[nodiscard]] Result<LoadResult> Load(const LoadRequest& request) override {
    Act("load");
    weights_ = request.weights;
    LoadResult result{.version = "Fake 1.0", .kernels = "none", .load_ms = 1};
    // What arrived, for tests of the request's encoding.
    for (const auto& [key, value] : request.attributes)
      result.notes.push_back(std::format("{}={}", key, value));
    result.notes.push_back(std::format(
        "{} {} {} {} {} {} {} {} {}", static_cast<int>(request.kind),
        request.path, request.precision, request.threads, request.provider,
        request.optimization, request.runtime_library,
        request.reference_kernels, request.weights.size()));
    return result;
  }

  [[nodiscard]] Result<RunResult> Run(const RunRequest& request) override {
    Act("run");
    RunResult result{.run_ms = 1};
    result.repeat_ms.assign(static_cast<std::size_t>(request.repeats), 0.5);
    result.provider_nodes["FakeProvider"] = 3;
    for (const NamedTensor& input : request.inputs) {
      const auto& wanted = request.output_names;
      if (wanted.empty() || std::ranges::contains(wanted, input.name))
        result.outputs.push_back(input);
    }
    // Weights, when there are any, come back as further outputs.
    for (const NamedTensor& weight : weights_) result.outputs.push_back(weight);
    if (result.outputs.size() < request.output_names.size())
      return Fail(ErrorCode::kBackend, "there is no such output");
    if (request.trace) {
      for (const NamedTensor& output : result.outputs) {
        result.trace.push_back({.name = output.name,
                                .op = "Identity",
                                .module = "/" + output.name,
                                .dtype = output.tensor.dtype(),
                                .shape = output.tensor.shape(),
                                .sketch = SketchOf(output.tensor.view()),
                                .tensor = output.tensor});
      }
    }
    if (script_.stage == "run" && script_.deed == "change") {
      for (const NamedTensor& input : request.inputs) {
        auto* const first = const_cast<std::byte*>(input.tensor.bytes().data());
        *first ^= std::byte{1};
        break;
      }
    }
    return result;
  }

 private:
  void Act(std::string_view stage) const {
    if (script_.stage != stage) return;
    if (void (*const deed)() = FindDeed(script_.deed)) deed();
  }

  Script script_;
  NamedTensors weights_;
};

Script ReadScript(const std::vector<std::string>& arguments) {
  if (arguments.size() == 3) return {arguments[1], arguments[2]};
  const char* const variable = std::getenv("ONNX_PARITY_FAKE");
  std::istringstream words(variable == nullptr ? "" : variable);
  Script script;
  std::string program;
  words >> script.stage >> script.deed >> program;
  const std::string own =
      std::filesystem::path(arguments[0]).filename().string();
  return program.empty() || program == own ? script : Script{};
}

// Starts this program as a worker, prints its process number and waits to be
// killed.
int HoldAWorker(const char* self) {
  const auto worker =
      Subprocess::Start({.program = self, .arguments = {"none", "none"}});
  if (!worker) return 1;
  std::cout << worker->pid() << '\n' << std::flush;
  Hang();
}

}  // namespace
}  // namespace parity

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "parent")
    return parity::HoldAWorker(argv[0]);
  parity::EchoBackend backend(
      parity::ReadScript(std::vector<std::string>(argv, argv + argc)));
  return parity::RunWorkerLoop(backend);
}
