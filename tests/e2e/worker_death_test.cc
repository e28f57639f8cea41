// Workers that crash, are killed, hang, eat memory or talk nonsense, at every
// stage: the tool ends with exit code 2, says which side and how, and leaves no
// process and no file behind. The workers are fakes under the real names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tool_run.h"

namespace parity {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class WorkerDeathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(workers_.path() / "w");
    for (const char* name : {"onnx-parity-ort", "onnx-parity-torch"}) {
      std::filesystem::create_symlink(PARITY_FAKE_WORKER,
                                      workers_.path() / "w" / name);
    }
  }

  [[nodiscard]] ToolOptions Options(const std::string& deed) const {
    return {.environment = {{"ONNX_PARITY_WORKERS",
                             (workers_.path() / "w").string()},
                            {"ONNX_PARITY_FAKE", deed}},
            .folder = {}};
  }

  // One tiny case; the model's own content does not matter to a fake.
  [[nodiscard]] std::vector<std::string> Arguments(
      std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {
        "validate",      PARITY_TEST_DATA "/onnx/layer_norm.onnx",
        "--torchscript", "any.pt",
        "--json",        files_ / "report.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  TestFolder workers_;
  TestFolder files_;
};

TEST_F(WorkerDeathTest, EveryDeathAtEveryStageOnEitherSideIsNamed) {
  for (const char* side :
       {"candidate onnx-parity-ort", "reference onnx-parity-torch"}) {
    const std::string text = side;
    const std::string role = text.substr(0, text.find(' '));
    const std::string program = text.substr(text.find(' ') + 1);
    for (const char* stage : {"hello", "load", "run"}) {
      for (const char* deed : {"segfault", "abort", "exit"}) {
        const ToolRun run =
            RunTool(Arguments(),
                    Options(std::string(stage) + " " + deed + " " + program));
        EXPECT_EQ(run.exit_code, 2)
            << role << ' ' << stage << ' ' << deed << '\n'
            << run.out;
        EXPECT_THAT(run.err, HasSubstr("the " + role + " worker"))
            << stage << ' ' << deed;
        EXPECT_THAT(run.err,
                    AnyOf(HasSubstr("signal"), HasSubstr("exited with code")))
            << stage << ' ' << deed;
        EXPECT_THAT(files_.Entries(), ElementsAre("report.json"));
      }
    }
  }
}

TEST_F(WorkerDeathTest, AHangingWorkerIsEndedByTheTimeout) {
  const ToolRun run = RunTool(Arguments({"--timeout", "1"}),
                              Options("run hang onnx-parity-ort"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("the candidate worker"));
  EXPECT_THAT(run.err, HasSubstr("--timeout"));
}

TEST_F(WorkerDeathTest, MemoryBeyondTheLimitIsSaidToBeThat) {
  const ToolRun run = RunTool(Arguments({"--memory-limit", "300MB"}),
                              Options("run memory onnx-parity-torch"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("the reference worker"));
  EXPECT_THAT(run.err, HasSubstr("memory"));
}

TEST_F(WorkerDeathTest, MissingWorkersAreSaidToBeMissing) {
  ToolOptions options = Options("");
  options.environment["ONNX_PARITY_WORKERS"] = files_.path().string();
  const ToolRun run = RunTool(Arguments(), options);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(files_.path().string()));
}

TEST_F(WorkerDeathTest, CtrlCEndsEverythingWith130) {
  for (const int signal : {SIGINT, SIGTERM}) {
    StartedTool tool(Arguments(), Options("run hang onnx-parity-ort"));
    std::vector<pid_t> workers;
    for (int i = 0; i < 500 && workers.size() < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      workers = tool.Descendants();
    }
    ASSERT_EQ(workers.size(), 2U);
    ::kill(tool.pid(), signal);
    const ToolRun run = tool.Finish();
    EXPECT_EQ(run.exit_code, 130);
    EXPECT_EQ(run.err, "onnx-parity: interrupted\n");
    for (const pid_t worker : workers) EXPECT_FALSE(IsAlive(worker));
    EXPECT_THAT(files_.Entries(), IsEmpty());
  }
}

TEST_F(WorkerDeathTest, WorkersDoNotOutliveAToolThatIsKilled) {
  std::vector<pid_t> workers;
  {
    StartedTool tool(Arguments(), Options("run hang onnx-parity-ort"));
    for (int i = 0; i < 500 && workers.size() < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      workers = tool.Descendants();
    }
    ASSERT_EQ(workers.size(), 2U);
    ::kill(tool.pid(), SIGKILL);
    EXPECT_EQ(tool.Finish().exit_code, 128 + SIGKILL);
  }
  for (const pid_t worker : workers) {
    for (int i = 0; i < 500 && IsAlive(worker); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_FALSE(IsAlive(worker));
  }
}

}  // namespace
}  // namespace parity
