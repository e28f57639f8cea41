// `onnx-parity runtime` with an npm client that knows three small packages:
// what the user reads, exit codes, signals. Nothing here needs a network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "runtimes/testing/fake_npm.h"
#include "runtimes/testing/package_maker.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

class RuntimeCommandTest : public ::testing::Test {
 protected:
  RuntimeCommandTest() {
    for (const char* version : {"1.16.0", "1.20.1", "1.100.0"})
      npm_.Publish(version, UsualPackage(version));
  }

  // `runtime …` with a cache folder of its own.
  [[nodiscard]] ToolRun Run(std::vector<std::string> words) const {
    words.insert(words.begin(), "runtime");
    return RunTool(words, Options());
  }
  [[nodiscard]] ToolOptions Options() const {
    return {.environment = {{"XDG_CACHE_HOME", folder_.path().string()}},
            .folder = {}};
  }
  [[nodiscard]] std::vector<std::string> Entries() const {
    const Json json = Json::parse(Run({"list", "--json"}).out);
    std::vector<std::string> versions;
    for (const Json& entry : json["runtimes"])
      versions.push_back(entry["version"]);
    return versions;
  }

  FakeNpm npm_;
  TestFolder folder_;
};

TEST_F(RuntimeCommandTest, WhatIsAddedIsListedUntilItIsRemoved) {
  const ToolRun added = Run({"add", "1.16.0", "latest", "1.20.1"});
  EXPECT_EQ(added.exit_code, 0) << added.err;
  EXPECT_THAT(added.out, StartsWith("ONNX Runtime 1.16.0 added: "));
  const std::string library = folder_ / "onnx-parity/runtimes/1.16.0-linux-";
  EXPECT_THAT(added.out, HasSubstr(library));
  EXPECT_THAT(Entries(), ElementsAre("1.100.0", "1.20.1", "1.16.0"));
  const ToolRun again = Run({"add", "1.16.0"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("is there already"));

  const ToolRun removed = Run({"remove", "1.16.0", "1.20.1"});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(Entries(), ElementsAre("1.100.0"));
  const ToolRun absent = Run({"remove", "1.16.0"});
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, StartsWith("onnx-parity: error: ONNX Runtime 1.16.0 "
                                     "is not in "));
}

TEST_F(RuntimeCommandTest, OneThatFailsDoesNotHoldUpTheOthers) {
  const ToolRun run = Run({"add", "1.15.0", "1.20.1", "1.20.2"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("1.15.0 is too old: 1.16.0 or newer is "
                                       "needed"),
                             HasSubstr("there is no onnxruntime-node@1.20.2; "
                                       "the nearest are ")));
  EXPECT_THAT(Entries(), ElementsAre("1.20.1"));
}

TEST_F(RuntimeCommandTest, AnEmptyListSaysHowToFillIt) {
  const ToolRun run = Run({"list"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("`onnx-parity runtime add VERSION`"));
  EXPECT_THAT(folder_.Entries(), IsEmpty());
}

TEST_F(RuntimeCommandTest, TheCacheFolderCanBeNamed) {
  const std::string cache = folder_ / "elsewhere";
  EXPECT_EQ(Run({"add", "1.20.1", "--cache", cache}).exit_code, 0);
  EXPECT_THAT(Run({"list", "--cache", cache}).out, HasSubstr("1.20.1"));
  EXPECT_THAT(Entries(), IsEmpty());
}

TEST_F(RuntimeCommandTest, APackageIsTakenFromAFile) {
  const std::string package = npm_ / "p.tgz";
  WriteTestFile(package, UsualPackage("1.22.0"));
  const ToolRun run = Run({"add", "--package", package});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, AllOf(StartsWith("onnx-parity: warning: nobody vouched"),
                             HasSubstr("sha512-")));
  EXPECT_THAT(Entries(), ElementsAre("1.22.0"));
}

TEST_F(RuntimeCommandTest, AnInterruptedDownloadLeavesNothing) {
  npm_.SetPackSeconds("60");
  StartedTool tool({"runtime", "add", "1.20.1"}, Options());
  for (int i = 0; i < 200 && npm_.Calls("pack") == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_EQ(npm_.Calls("pack"), 1);
  const std::vector<pid_t> children = tool.Descendants();
  EXPECT_THAT(children, Not(IsEmpty()));
  ::kill(tool.pid(), SIGINT);
  const ToolRun run = tool.Finish();
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.err, "onnx-parity: interrupted\n");
  EXPECT_THAT(Entries(), IsEmpty());
  for (const pid_t child : children) {
    for (int i = 0; i < 100 && IsAlive(child); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(IsAlive(child));
  }
}

TEST_F(RuntimeCommandTest, AVersionThatIsNotThereStopsAValidationAtOnce) {
  ASSERT_EQ(Run({"add", "1.20.1"}).exit_code, 0);
  const ToolRun run = RunTool({"validate", "m.onnx", "--runtime",
                               "1.20.1,1.16.0", "--json", folder_ / "r.json"},
                              Options());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr("(there is 1.20.1): `onnx-parity runtime add "
                                 "1.16.0` fetches it"));
}

}  // namespace
}  // namespace parity
