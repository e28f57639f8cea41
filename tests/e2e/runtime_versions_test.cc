// --runtime with real libraries: the system's, and two official builds that
// the real npm client fetches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sweep_report.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

// A small export, and an empty cache folder.
class RuntimeVersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const ToolRun run =
        RunTool({"export", "--model-type", "mattingbase", "--output", Model()});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  [[nodiscard]] std::string Model() const { return folder_ / "model.onnx"; }
  [[nodiscard]] std::string Report() const { return folder_ / "report.json"; }
  [[nodiscard]] ToolRun Run(const std::vector<std::string>& words) const {
    return RunTool(
        words, {.environment = {{"XDG_CACHE_HOME", folder_.path().string()}},
                .folder = {}});
  }
  [[nodiscard]] ToolRun Validate(const std::vector<std::string>& more) const {
    std::vector<std::string> words = {"validate",      Model(),  "--shape",
                                      "src=1x3x32x48", "--json", Report()};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }

  TestFolder folder_;
};

TEST_F(RuntimeVersionsTest, SeveralAreValidatedInTurnAndTheWorstCounts) {
  const ToolRun passed = Validate({"--runtime", "system,system"});
  EXPECT_EQ(passed.exit_code, 0) << passed.out << passed.err;
  EXPECT_THAT(passed.out, HasSubstr("== runtime system =="));
  const Json json = ReadJson(Report());
  ASSERT_EQ(json["runtimes"].size(), 2U);
  EXPECT_EQ(json["runtimes"][1]["runtime"], "system");
  EXPECT_EQ(json["runtimes"][1]["verdict"], "passed");

  const ToolRun failed = Validate(
      {"--runtime", "system,system", "--atol", "0", "--explain", "never"});
  EXPECT_EQ(failed.exit_code, 1) << failed.out << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("system   FAILED"));

  // A side that cannot be used is undecided in each, and reported in each.
  const ToolRun undecided = Validate(
      {"--runtime", "system,system", "--provider", "NoExecutionProvider"});
  EXPECT_EQ(undecided.exit_code, 2) << undecided.out << undecided.err;
  EXPECT_EQ(ReadJson(Report())["runtimes"][1]["verdict"], "error");
}

TEST_F(RuntimeVersionsTest, OneIsReportedAsWithoutTheFlag) {
  const ToolRun run = Validate({"--runtime", "system"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_FALSE(run.out.contains("== runtime"));
  EXPECT_EQ(ReadJson(Report())["verdict"], "passed");
}

TEST_F(RuntimeVersionsTest, OfficialBuildsOfAnyAgeValidate) {
  const ToolRun added = Run({"runtime", "add", "1.16.0", "latest"});
  if (added.exit_code == 2 &&
      (added.err.contains("the npm client is needed") ||
       added.err.contains("cannot reach the npm registry")))
    GTEST_SKIP() << "no npm client or no network here: " << added.err;
  ASSERT_EQ(added.exit_code, 0) << added.err;
  const Json list = Json::parse(Run({"runtime", "list", "--json"}).out);
  ASSERT_EQ(list["runtimes"].size(), 2U);
  const std::string newest = list["runtimes"][0]["version"];
  EXPECT_NE(newest, "1.16.0");

  const ToolRun run = Validate({"--runtime", newest + ",1.16.0,system"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const Json json = ReadJson(Report());
  ASSERT_EQ(json["runtimes"].size(), 3U);
  EXPECT_EQ(json["runtimes"][0]["candidate"]["version"],
            "ONNX Runtime " + newest);
  EXPECT_EQ(json["runtimes"][1]["candidate"]["version"], "ONNX Runtime 1.16.0");
  for (const Json& report : json["runtimes"])
    EXPECT_EQ(report["verdict"], "passed") << report["runtime"];

  // Side by side in one table.
  const ToolRun sweep = Run({"sweep", "--model-type", "mattingbase", "--shape",
                             "1x3x32x48", "--repeat", "2", "--runtime", "all",
                             "--provider", "cpu", "--json", Report()});
  EXPECT_EQ(sweep.exit_code, 0) << sweep.out << sweep.err;
  const Json table = ReadJson(Report());
  ASSERT_EQ(table["rows"].size(), 3U);
  for (const Json& row : table["rows"]) {
    const std::string runtime = row["axes"]["runtime"];
    EXPECT_EQ(row["verdict"], "passed") << runtime;
    EXPECT_GT(row["provider_nodes"]["CPUExecutionProvider"], 50) << runtime;
    if (runtime != "system") {
      EXPECT_EQ(row["runtime_version"], "ONNX Runtime " + runtime);
    }
  }
}

}  // namespace
}  // namespace parity
