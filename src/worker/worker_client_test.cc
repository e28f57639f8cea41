// Each test runs the real worker process of workers/fake_worker.cc.
#include "worker/worker_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <format>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/shared_tensors.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "worker/subprocess.h"

namespace parity {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

WorkerOptions Options(const std::string& stage = "none",
                      const std::string& deed = "none") {
  return {.side = "candidate",
          .program = PARITY_FAKE_WORKER,
          .arguments = {stage, deed},
          .timeout = milliseconds(60'000)};
}

NamedTensors Inputs() {
  const std::array<float, 4> values = {1, 2, 3, 4};
  const std::array<std::int64_t, 1> count = {7};
  return {{.name = "src",
           .tensor = *Tensor::From<float>(DType::kFloat32, {2, 2}, values)},
          {.name = "count",
           .tensor = *Tensor::From<std::int64_t>(DType::kInt64, {1}, count)}};
}

// Brings the client to `stage` and returns how that went.
Status Reach(WorkerClient& client, const std::string& stage) {
  const auto loaded = client.Load({.path = "model.onnx"});
  if (!loaded) return std::unexpected(loaded.error());
  if (stage != "run") return {};
  const auto run = client.Run({.inputs = Inputs()});
  if (!run) return std::unexpected(run.error());
  return {};
}

// Processes whose parent this is, zombies included, and any that runs the fake
// worker at all.
std::set<std::string> Leftovers() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") !=
        std::string::npos) {
      continue;
    }
    std::ifstream stat(entry.path() / "stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    if (text.contains(std::format(") Z {} ", ::getpid())) ||
        text.contains(std::format(") S {} ", ::getpid()))) {
      found.insert(text);
    }
    std::ifstream environment(entry.path() / "environ");
    const std::string words((std::istreambuf_iterator<char>(environment)), {});
    if (words.contains(std::format("PARITY_TEST_MARK={}", ::getpid())))
      found.insert(text);
  }
  return found;
}

std::ptrdiff_t OpenDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       {});
}

class WorkerClientTest : public ::testing::Test {
 protected:
  // Marks every process that comes from this test, however it got away.
  void SetUp() override {
    ::setenv("PARITY_TEST_MARK", std::to_string(::getpid()).c_str(), 1);
    descriptors_ = OpenDescriptors();
  }
  void TearDown() override {
    EXPECT_EQ(OpenDescriptors(), descriptors_);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a zombie is left";
    // Those that nobody can wait for take a moment to vanish.
    for (int i = 0; i < 500 && !Leftovers().empty(); ++i)
      std::this_thread::sleep_for(milliseconds(10));
    EXPECT_THAT(Leftovers(), IsEmpty());
  }

  std::ptrdiff_t descriptors_ = 0;
};

TEST_F(WorkerClientTest, OutputsComeBackAndOutliveTheWorker) {
  Result<RunResult> result = Fail(ErrorCode::kIo, "not run");
  {
    WorkerClient client(Options());
    ASSERT_TRUE(client.Load({.path = "model.onnx"}).has_value());
    result = client.Run({.inputs = Inputs()});
  }
  ASSERT_TRUE(result.has_value()) << result.error().message;
  ASSERT_EQ(result->outputs.size(), 2U);
  EXPECT_EQ(result->outputs[0].name, "src");
  EXPECT_EQ(result->outputs[0].tensor.shape(), (Shape{2, 2}));
  EXPECT_THAT(result->outputs[0].tensor.As<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(result->outputs[1].tensor.As<std::int64_t>(), ElementsAre(7));
  EXPECT_THAT(result->changed_inputs, IsEmpty());
  EXPECT_EQ(result->run_ms, 1);
  EXPECT_GT(result->peak_rss_bytes, 100'000);
}

TEST_F(WorkerClientTest, TheLoadRequestArrivesWhole) {
  WorkerClient client(Options());
  const auto loaded = client.Load({.kind = ModelKind::kNetwork,
                                   .path = "a path",
                                   .attributes = {{"key", "value"}},
                                   .weights = Inputs(),
                                   .precision = "float64",
                                   .threads = 2,
                                   .provider = "P",
                                   .optimization = "basic",
                                   .runtime_library = "L",
                                   .reference_kernels = "native"});
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->version, "Fake 1.0");
  EXPECT_THAT(
      loaded->notes,
      ElementsAre("key=value", "2 a path float64 2 P basic L native 2"));
  const auto run = client.Run({});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_THAT(run->outputs[0].tensor.As<float>(), ElementsAre(1, 2, 3, 4));
}

TEST_F(WorkerClientTest, ATraceComesBackBesideTheOutputsWhenAskedFor) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Load({}).has_value());
  const auto plain = client.Run({.inputs = Inputs()});
  ASSERT_TRUE(plain.has_value()) << plain.error().message;
  EXPECT_TRUE(plain->trace.empty());
  const auto run = client.Run({.inputs = Inputs(), .trace = true});
  ASSERT_TRUE(run.has_value()) << run.error().message;
  EXPECT_EQ(run->outputs.size(), 2U);
  ASSERT_EQ(run->trace.size(), 2U);
  EXPECT_EQ(run->trace[0].name, "src");
  EXPECT_EQ(run->trace[0].module, "/src");
  EXPECT_EQ(run->trace[0].shape, (Shape{2, 2}));
  EXPECT_EQ(run->trace[0].sketch.sum, 10);
  ASSERT_TRUE(run->trace[1].tensor.has_value());
  EXPECT_THAT(run->trace[1].tensor->As<std::int64_t>(), ElementsAre(7));
}

TEST_F(WorkerClientTest, SharedInputsServeManyRunsAndSides) {
  const auto shared = Share(Inputs());
  ASSERT_TRUE(shared.has_value());
  for (const char* const side : {"reference", "candidate"}) {
    WorkerOptions options = Options();
    options.side = side;
    WorkerClient client(options);
    EXPECT_EQ(client.name(), side);
    ASSERT_TRUE(client.Load({}).has_value());
    for (int i = 0; i < 3; ++i) {
      const auto run = client.Run({.inputs = (*shared)->tensors(),
                                   .shared_inputs = *shared,
                                   .output_names = {"count"}});
      ASSERT_TRUE(run.has_value()) << run.error().message;
      ASSERT_EQ(run->outputs.size(), 1U);
      EXPECT_THAT(run->outputs[0].tensor.As<std::int64_t>(), ElementsAre(7));
    }
  }
}

TEST_F(WorkerClientTest, AChangedInputIsReportedAndChangesNothingHere) {
  WorkerClient client(Options("run", "change"));
  ASSERT_TRUE(client.Load({}).has_value());
  const auto shared = Share(Inputs());
  for (int i = 0; i < 2; ++i) {
    const auto run =
        client.Run({.inputs = (*shared)->tensors(), .shared_inputs = *shared});
    ASSERT_TRUE(run.has_value()) << run.error().message;
    EXPECT_THAT(run->changed_inputs, ElementsAre("src"));
  }
  EXPECT_THAT((*shared)->tensors()[0].tensor.As<float>(),
              ElementsAre(1, 2, 3, 4));
}

TEST_F(WorkerClientTest, EveryDeathAtEveryStageIsAnErrorThatSaysHow) {
  struct Case {
    std::string deed;
    std::string says;
  };
  const std::array cases = {
      Case{"segfault", "was killed by signal 11 (SIGSEGV) "},
      Case{"abort", "was killed by signal 6 (SIGABRT) "},
      Case{"exit", "exited with code 134 "},
      Case{"kill", "was killed by signal 9 (SIGKILL) "},
      Case{"child", "was killed by signal 6 (SIGABRT) "},
      Case{"flood-abort", "was killed by signal 6 (SIGABRT) "},
      Case{"garbage", "broke the worker protocol "},
      Case{"half", "broke the worker protocol "},
      Case{"no-json", "broke the worker protocol "},
      Case{"no-members", "broke the worker protocol "},
  };
  const std::array<std::pair<std::string, std::string>, 3> stages = {
      {{"hello", "while starting"},
       {"load", "while loading the model"},
       {"run", "while running the model"}}};
  for (const auto& [stage, doing] : stages) {
    for (const Case& c : cases) {
      SCOPED_TRACE(std::format("{} at {}", c.deed, stage));
      WorkerClient client(Options(stage, c.deed));
      const Status status = Reach(client, stage);
      ASSERT_FALSE(status.has_value());
      EXPECT_EQ(status.error().code, ErrorCode::kWorkerDied);
      const std::string who = stage == "hello" ? "onnx-parity-fake" : "Fake";
      EXPECT_THAT(status.error().message,
                  StartsWith(std::format("the candidate worker ({}) {}{}", who,
                                         c.says, doing)));
      EXPECT_THAT(status.error().message, Not(HasSubstr("\n")));
      EXPECT_EQ(client.pid(), 0);
    }
  }
}

TEST_F(WorkerClientTest, LastWordsAreQuotedWithoutNoise) {
  WorkerClient client(Options("run", "flood-abort"));
  EXPECT_THAT(Reach(client, "run").error().message,
              HasSubstr("; its last words: an assertion failed"));
  WorkerClient silent(Options("run", "segfault"));
  EXPECT_THAT(Reach(silent, "run").error().message,
              HasSubstr("; it printed nothing"));
}

TEST_F(WorkerClientTest, ATalkativeWorkerIsNotHeldUp) {
  for (const char* const stage : {"hello", "load", "run"}) {
    WorkerClient client(Options(stage, "flood"));
    EXPECT_TRUE(Reach(client, "run").has_value());
  }
}

TEST_F(WorkerClientTest, ImagesThatCannotBeTrustedBreakTheProtocol) {
  struct Case {
    std::string deed;
    std::string says;
  };
  for (const Case& c :
       {Case{"unsealed", "the outputs came in no sealed memory file"},
        Case{"no-members", "a message without a proper 'outputs'"},
        Case{"too-few", "0 outputs for 1 names"}}) {
    WorkerClient client(Options("run", c.deed));
    const Status status = Reach(client, "run");
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kWorkerDied);
    EXPECT_THAT(
        status.error().message,
        AllOf(HasSubstr("broke the worker protocol"), HasSubstr(c.says)));
  }
}

TEST_F(WorkerClientTest, AWorkerThatHangsIsGivenUpAtEveryStage) {
  for (const char* const stage : {"hello", "load", "run"}) {
    for (const char* const deed : {"hang", "child-hang"}) {
      SCOPED_TRACE(std::format("{} at {}", deed, stage));
      WorkerOptions options = Options(stage, deed);
      options.timeout = milliseconds(300);
      WorkerClient client(options);
      const Status status = Reach(client, stage);
      ASSERT_FALSE(status.has_value());
      EXPECT_EQ(status.error().code, ErrorCode::kWorkerDied);
      EXPECT_THAT(status.error().message,
                  AllOf(HasSubstr("did not answer within 0.3 s while"),
                        HasSubstr("(--timeout)")));
      EXPECT_EQ(client.pid(), 0);
    }
  }
}

TEST_F(WorkerClientTest, RepeatedRunsMayTakeAsLongAsThatManyRuns) {
  WorkerOptions options = Options("run", "hang");
  options.timeout = milliseconds(100);
  WorkerClient client(options);
  ASSERT_TRUE(client.Load({}).has_value());
  const auto run = client.Run({.repeats = 3});
  ASSERT_FALSE(run.has_value());
  EXPECT_THAT(run.error().message, HasSubstr("did not answer within 0.4 s"));
}

TEST_F(WorkerClientTest, AWorkerThatClosesItsConnectionAndLivesOnIsEnded) {
  WorkerClient client(Options("run", "close"));
  const Status status = Reach(client, "run");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().message,
            "the candidate worker (Fake) closed its connection while running "
            "the model; it printed nothing");
}

TEST_F(WorkerClientTest, AnInterruptEndsEveryWait) {
  for (const char* const stage : {"hello", "load", "run"}) {
    std::atomic<bool> interrupted = false;
    WorkerOptions options = Options(stage, "hang");
    options.interrupted = &interrupted;
    WorkerClient client(options);
    const std::jthread user([&interrupted] {
      std::this_thread::sleep_for(milliseconds(100));
      interrupted = true;
    });
    const Status status = Reach(client, stage);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInterrupted);
    EXPECT_EQ(client.pid(), 0);
  }
}

TEST_F(WorkerClientTest, AWorkerKilledByTheInterruptIsNoFailureOfItsOwn) {
  std::atomic<bool> interrupted = false;
  WorkerOptions options = Options("run", "hang");
  options.interrupted = &interrupted;
  WorkerClient client(options);
  const std::jthread user([&interrupted] {
    std::this_thread::sleep_for(milliseconds(100));
    interrupted = true;
    KillAllWorkers();
  });
  EXPECT_EQ(Reach(client, "run").error().code, ErrorCode::kInterrupted);
}

TEST_F(WorkerClientTest, TooLargeARunIsALackOfMemory) {
  if (kSanitized)
    GTEST_SKIP() << "AddressSanitizer needs more memory than any limit";
  for (const char* const stage : {"load", "run"}) {
    for (const char* const deed : {"memory", "thread-memory"}) {
      SCOPED_TRACE(std::format("{} at {}", deed, stage));
      WorkerOptions options = Options(stage, deed);
      options.memory_limit_bytes = 300'000'000;
      WorkerClient client(options);
      const Status status = Reach(client, stage);
      ASSERT_FALSE(status.has_value());
      EXPECT_EQ(status.error().code, ErrorCode::kWorkerDied);
      EXPECT_THAT(
          status.error().message,
          AllOf(HasSubstr("the candidate worker (Fake) ran out of "
                          "memory (limit 300 MB, --memory-limit) while"),
                HasSubstr("bad_alloc")));
    }
  }
}

TEST_F(WorkerClientTest, ALimitThatIsNotReachedIsNotFelt) {
  if (kSanitized)
    GTEST_SKIP() << "AddressSanitizer needs more memory than any limit";
  WorkerOptions options = Options();
  options.memory_limit_bytes = 300'000'000;
  WorkerClient client(options);
  EXPECT_TRUE(Reach(client, "run").has_value());
}

TEST_F(WorkerClientTest, ALimitTooSmallToStartIsAnError) {
  if (kSanitized)
    GTEST_SKIP() << "AddressSanitizer needs more memory than any limit";
  WorkerOptions options = Options();
  options.memory_limit_bytes = 10'000;
  WorkerClient client(options);
  const Status status = Reach(client, "load");
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kWorkerDied);
  EXPECT_THAT(status.error().message, HasSubstr("memory"));
}

TEST_F(WorkerClientTest, AnErrorReplyLeavesTheWorkerUsable) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Load({}).has_value());
  const auto pid = client.pid();
  const auto run =
      client.Run({.inputs = Inputs(), .output_names = {"nowhere"}});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().code, ErrorCode::kBackend);
  EXPECT_EQ(run.error().message, "there is no such output");
  EXPECT_TRUE(client.Run({.inputs = Inputs()}).has_value());
  EXPECT_EQ(client.pid(), pid);
}

TEST_F(WorkerClientTest, AnExceptionOfTheBackendIsAnErrorReply) {
  for (const char* const stage : {"hello", "load", "run"}) {
    WorkerClient client(Options(stage, "throw"));
    const Status status = Reach(client, stage);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kBackend);
    EXPECT_EQ(status.error().message, "thrown by a library");
  }
}

TEST_F(WorkerClientTest, ADeadWorkerIsReplacedByTheNextLoad) {
  WorkerClient client(Options("run", "abort"));
  EXPECT_FALSE(Reach(client, "run").has_value());
  const auto run = client.Run({.inputs = Inputs()});
  ASSERT_FALSE(run.has_value());
  EXPECT_EQ(run.error().message,
            "the candidate worker (Fake) has no model loaded");
  EXPECT_TRUE(client.Load({}).has_value());
}

TEST_F(WorkerClientTest, BothSidesLoadInParallelOnThreadsThatEnd) {
  WorkerClient reference(Options());
  WorkerClient candidate(Options());
  {
    const std::jthread first(
        [&] { EXPECT_TRUE(reference.Load({}).has_value()); });
    const std::jthread second(
        [&] { EXPECT_TRUE(candidate.Load({}).has_value()); });
  }
  EXPECT_TRUE(reference.Run({.inputs = Inputs()}).has_value());
  EXPECT_TRUE(candidate.Run({.inputs = Inputs()}).has_value());
}

TEST_F(WorkerClientTest, AStartedWorkerIsWaitedForOnlyByTheLoad) {
  WorkerClient client(Options("hello", "abort"));
  ASSERT_TRUE(client.Start().has_value());
  EXPECT_NE(client.pid(), 0);
  EXPECT_TRUE(client.Start().has_value());
  EXPECT_FALSE(client.Load({}).has_value());
}

TEST_F(WorkerClientTest, AWorkerThatIsAskedToEndsByItself) {
  WorkerClient client(Options());
  ASSERT_TRUE(client.Load({}).has_value());
  const auto status = client.Quit();
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(status->Describe(), "exited with code 0");
}

TEST_F(WorkerClientTest, AMissingProgramIsNamed) {
  WorkerOptions options = Options();
  options.program = "/nowhere/onnx-parity-ort";
  WorkerClient client(options);
  const auto loaded = client.Load({});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().message,
            "cannot start /nowhere/onnx-parity-ort: No such file or directory");
}

TEST_F(WorkerClientTest, AProgramThatIsNoWorkerIsAnError) {
  WorkerOptions options = Options();
  options.program = "/bin/sh";
  options.arguments = {"-c", "echo what do you want >&2; exit 3"};
  WorkerClient client(options);
  const auto loaded = client.Load({});
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().message,
            "the candidate worker (sh) exited with code 3 while starting; its "
            "last words: what do you want");
}

}  // namespace
}  // namespace parity
