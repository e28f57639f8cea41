// A sweep as a job array of a real Slurm cluster on this machine
// (docs/slurm.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sweep_report.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class SlurmTest : public ::testing::Test {
 protected:
  // Runs the shell script in a cluster of its own, in the test's folder; its
  // output is in "log". 77: there is no cluster here.
  [[nodiscard]] int InCluster(const std::string& script) const {
    std::ofstream(folder_ / "script.sh")
        << "set -e\n"
           "export PATH=" +
               std::filesystem::path(PARITY_TOOL).parent_path().string() +
               ":$PATH\n"
               "wait_for_jobs() {\n"
               "  for i in $(seq 1 300); do\n"
               "    [ -n \"$(squeue -h)\" ] || return 0\n"
               "    sleep 0.3\n"
               "  done\n"
               "  squeue; return 1\n"
               "}\n"
        << script;
    const std::string command =
        "cd " + folder_.path().string() + " && " + PARITY_SOURCE_DIR +
        "/tests/e2e/slurm_cluster.sh " + (folder_ / "cluster") + " bash " +
        (folder_ / "script.sh") + " > " + (folder_ / "log") +
        " 2>&1 < /dev/null";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  // Six quick combinations.
  static constexpr const char* kSweep =
      "--provider cpu --shape 1x3x64x64 --repeat 1";
  static constexpr const char* kJob =
      PARITY_SOURCE_DIR "/examples/slurm_sweep.sh";

  TestFolder folder_;
};

TEST_F(SlurmTest, AJobArrayIsTheSweepAlsoWhenATaskIsKilled) {
  const ToolRun whole =
      RunTool({"sweep", "--provider", "cpu", "--shape", "1x3x64x64", "--repeat",
               "1", "--cache", folder_ / "cache-of-whole", "--json",
               folder_ / "whole.json"});
  ASSERT_EQ(whole.exit_code, 0) << whole.out << whole.err;
  const int status = InCluster(
      "job=$(SCRATCH=$PWD sbatch --parsable --array=1-3 " + std::string(kJob) +
      " " + kSweep +
      ")\n"
      "# The first task is killed as soon as it has a journal.\n"
      "for i in $(seq 1 200); do [ -s journals/shard-1.jsonl ] && break; "
      "sleep 0.1; done\n"
      "scancel --signal=KILL --full ${job}_1 || true\n"
      "wait_for_jobs\n"
      "onnx-parity merge journals/*.jsonl --allow-missing --json first.json "
      "|| true\n"
      "# Submitted again, it goes on.\n"
      "SCRATCH=$PWD SHARDS=3 sbatch --array=1 " +
      std::string(kJob) + " " + kSweep +
      "\n"
      "wait_for_jobs\n"
      "onnx-parity merge journals/*.jsonl --json merged.json\n");
  if (status == 77) GTEST_SKIP() << "no cluster: " << ReadText(folder_ / "log");
  ASSERT_EQ(status, 0) << ReadText(folder_ / "log");
  const nlohmann::json merged = ReadJson(folder_ / "merged.json");
  EXPECT_EQ(Findings(merged), Findings(ReadJson(folder_ / "whole.json")));
  EXPECT_EQ(merged["rows"].size(), 6U);
  for (const char* shard : {"1", "2", "3"}) {
    EXPECT_THAT(Lines(ReadText(folder_ / ("journals/shard-" +
                                          std::string(shard) + ".jsonl"))),
                SizeIs(3));
  }
}

TEST(SlurmDocumentTest, ItQuotesTheJobScriptThatIsTested) {
  const std::string script =
      ReadText(std::string(PARITY_SOURCE_DIR) + "/examples/slurm_sweep.sh");
  const std::string document =
      ReadText(std::string(PARITY_SOURCE_DIR) + "/docs/slurm.md");
  ASSERT_FALSE(script.empty());
  for (const std::string& line : Lines(script))
    EXPECT_THAT(document, HasSubstr(line));
}

}  // namespace
}  // namespace parity
