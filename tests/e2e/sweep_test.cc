// Real sweeps with real libtorch and real ONNX Runtime, on a small size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "sweep_report.h"
#include "tool_run.h"

namespace parity {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

Json RecommendedRow(const Json& sweep) {
  for (const Json& row : sweep["rows"]) {
    if (row["row"] == sweep["recommended"]) return row;
  }
  return {};
}

// Results kept, without what is kept of how a reference loads.
int ReferenceResults(const fs::path& cache) {
  int results = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(cache / "references")) {
    constexpr std::uintmax_t kSmall = 30'000;
    results += entry.is_regular_file() && entry.file_size() > kSmall ? 1 : 0;
  }
  return results;
}

class SweepTest : public ::testing::Test {
 protected:
  // `sweep … --shape small --cache … --json …` of a few quick combinations.
  [[nodiscard]] Words Sweep(const Words& more,
                            const std::string& json = "sweep.json",
                            const std::string& cache = "cache") const {
    Words words = {"sweep",   "--shape",       "1x3x64x64", "--repeat",    "1",
                   "--cache", folder_ / cache, "--json",    folder_ / json};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] Json Report(const std::string& json = "sweep.json") const {
    return ReadJson(folder_ / json);
  }

  TestFolder folder_;
  const Words cpu_ = {"--provider", "cpu"};  // six combinations
};

TEST_F(SweepTest, EveryPatchMethodOnEveryProvider) {
  const ToolRun run =
      RunTool({"sweep", "--shape", "1x3x128x160", "--repeat", "3", "--provider",
               "cpu,dnnl,xnnpack", "--cache", folder_ / "cache", "--json",
               folder_ / "sweep.json", "--csv", folder_ / "sweep.csv",
               "--markdown", folder_ / "sweep.md"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const Json sweep = Report();
  ASSERT_EQ(sweep["rows"].size(), 18U);
  int dnnl_failures = 0;
  for (const Json& row : sweep["rows"]) {
    const std::string text = row.dump(2);
    const std::string provider = row["provider"];
    if (provider == "XnnpackExecutionProvider") {
      // It aborts the process (ONNX Runtime 1.21 of Debian 13).
      EXPECT_EQ(row["verdict"], "error") << text;
      EXPECT_EQ(row["cause"], "provider") << text;
      EXPECT_THAT(row["message"].get<std::string>(), HasSubstr("SIGABRT"));
      EXPECT_TRUE(row["steady_run_ms"].is_null());
      continue;
    }
    EXPECT_GT(row["load_ms"], 0.0) << text;
    EXPECT_GT(row["first_run_ms"], 0.0);
    EXPECT_GT(row["steady_run_ms"], 0.0);
    EXPECT_EQ(row["repeats"], 3);
    EXPECT_GT(row["peak_rss_bytes"], 50'000'000);
    EXPECT_GT(row["provider_nodes"][provider], 10) << text;
    EXPECT_EQ(row["provider_ran_nothing"], false);
    if (provider == "DnnlExecutionProvider" && row["verdict"] == "failed") {
      ++dnnl_failures;
      EXPECT_EQ(row["cause"], "provider") << text;
      continue;
    }
    EXPECT_EQ(row["verdict"], "passed") << text;
    EXPECT_TRUE(row["cause"].is_null()) << text;
  }
  // All or none: the fault is the processor's, not the patch method's.
  EXPECT_TRUE(dnnl_failures == 0 || dnnl_failures == 6) << dnnl_failures;
  if (dnnl_failures == 0)
    std::cout << "note: DnnlExecutionProvider computes correctly on this "
                 "processor, so that its rows pass\n";

  // Rows that passed come first; one of them is what the command line makes.
  EXPECT_EQ(sweep["rows"][0]["verdict"], "passed");
  const Json best = RecommendedRow(sweep);
  EXPECT_EQ(best["verdict"], "passed");
  EXPECT_THAT(run.out, HasSubstr(best["command"].get<std::string>()));
  EXPECT_THAT(Lines(ReadText(folder_ / "sweep.csv")), SizeIs(19));
  EXPECT_THAT(ReadText(folder_ / "sweep.md"), HasSubstr("| roi_align "));
  EXPECT_THAT(run.err, Not(HasSubstr("row 1"))) << "progress is for terminals";
}

TEST_F(SweepTest, TheRecommendedCommandDoesWhatTheTableSays) {
  const ToolRun run = RunTool(Sweep(cpu_));
  ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
  const std::string command = RecommendedRow(Report())["command"];
  Words words;
  std::istringstream stream(command);
  for (std::string word; stream >> word;) words.push_back(word);
  ASSERT_EQ(words[0], "onnx-parity");
  words.erase(words.begin());
  const ToolRun again =
      RunTool(words, {.environment = {}, .folder = folder_.path()});
  EXPECT_EQ(again.exit_code, 0) << command << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("Validation passed."));
  EXPECT_TRUE(fs::exists(folder_ / "model.onnx"));
}

TEST_F(SweepTest, TheReferenceRunsOnceForEveryResultItCanHave) {
  ASSERT_EQ(RunTool(Sweep({"--provider", "cpu", "--refine-mode",
                           "sampling,full", "--crop", "gather"}))
                .exit_code,
            0);
  EXPECT_EQ(ReferenceResults(folder_ / "cache"), 2)
      << "two refine modes, one input";
}

TEST_F(SweepTest, WithoutAPassNothingIsRecommended) {
  const ToolRun run = RunTool(Sweep({"--provider", "cpu", "--crop", "gather",
                                     "--atol", "1e-12", "--explain", "never"}));
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("Ship this")));
  EXPECT_TRUE(Report()["recommended"].is_null());
}

TEST_F(SweepTest, RequireAllWantsEveryRow) {
  const Words providers = {"--provider", "cpu,xnnpack", "--crop",
                           "gather",     "--replace",   "scatter_nd"};
  EXPECT_EQ(RunTool(Sweep(providers)).exit_code, 0);
  Words all = providers;
  all.insert(all.end(), {"--require", "all"});
  EXPECT_EQ(RunTool(Sweep(all)).exit_code, 1);
}

TEST_F(SweepTest, AHangIsARow) {
  const ToolRun run =
      RunTool(Sweep({"--provider", "cpu", "--crop", "gather", "--explain",
                     "never", "--timeout", "0.02"}));
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  ASSERT_EQ(Report()["rows"].size(), 2U);
  const Json sweep = Report();
  for (const Json& row : sweep["rows"]) {
    EXPECT_EQ(row["verdict"], "error");
    EXPECT_THAT(row["message"].get<std::string>(), HasSubstr("did not answer"));
  }
}

TEST_F(SweepTest, AProviderThatIsNotThereIsARow) {
  const ToolRun run =
      RunTool(Sweep({"--provider", "cpu,OpenVINO", "--crop", "gather"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  ASSERT_EQ(Report()["rows"].size(), 4U);
  const Json row = Report()["rows"][3];
  EXPECT_THAT(row["message"].get<std::string>(),
              HasSubstr("has no provider 'OpenVINOExecutionProvider'"));
}

TEST_F(SweepTest, AProviderThatRunsNoNodeIsSaidToHaveRunNothing) {
  // DnnlExecutionProvider has no NonZero and leaves it to the CPU.
  const std::string data =
      "/usr/share/libonnx-testdata/data/node/test_nonzero_example";
  if (!fs::exists(data))
    GTEST_SKIP() << data << " does not exist: install libonnx-testdata";
  const ToolRun run =
      RunTool({"sweep", data + "/model.onnx", "--recorded",
               data + "/test_data_set_0", "--provider", "dnnl", "--cache",
               folder_ / "cache", "--json", folder_ / "sweep.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("Dnnl ran nothing"));
  EXPECT_EQ(Report()["rows"][0]["provider_ran_nothing"], true);
}

TEST_F(SweepTest, AGivenModelIsSweptOverRuntimeAxes) {
  const std::string data =
      std::string(PARITY_TEST_DATA) + "/cases/01-encoder-decoder-dynamic/";
  const ToolRun run = RunTool(
      {"sweep", data + "model.onnx", "--torchscript", data + "reference.pt",
       "--optimization", "all", "--provider", "cpu", "--repeat", "2",
       "--inputs", data + "inputs/0-traced.safetensors", "--cache",
       folder_ / "cache", "--json", folder_ / "sweep.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  ASSERT_EQ(Report()["rows"].size(), 4U);
  const Json sweep = Report();
  for (const Json& row : sweep["rows"])
    EXPECT_EQ(row["verdict"], "passed") << row.dump(2);
  EXPECT_THAT(run.out, HasSubstr("onnx-parity validate"));
}

TEST_F(SweepTest, ShardsAreTheWhole) {
  ASSERT_EQ(RunTool(Sweep(cpu_, "whole.json")).exit_code, 0);
  Words merge = {"merge"};
  for (const char* shard : {"1", "2", "3"}) {
    const std::string journal = folder_ / ("shard-" + std::string(shard));
    const ToolRun run =
        RunTool(Sweep({"--provider", "cpu", "--shard",
                       std::string(shard) + "/3", "--journal", journal},
                      "part.json"));
    ASSERT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_EQ(Report("part.json")["rows"].size(), 2U);
    merge.push_back(journal);
  }
  merge.insert(merge.end(), {"--json", folder_ / "merged.json"});
  const ToolRun merged = RunTool(merge);
  EXPECT_EQ(merged.exit_code, 0) << merged.out << merged.err;
  EXPECT_EQ(Findings(Report("merged.json")), Findings(Report("whole.json")));
  EXPECT_EQ(Report("merged.json")["plan"], Report("whole.json")["plan"]);

  // One is missing.
  merge.erase(merge.begin() + 2);
  const ToolRun missing = RunTool(merge);
  EXPECT_EQ(missing.exit_code, 2) << missing.out;
  EXPECT_THAT(missing.err, HasSubstr("2 of 6 rows are in no journal"));
}

TEST_F(SweepTest, AFinishedJournalIsShownAndNotRepeated) {
  const Words words =
      Sweep({"--provider", "cpu", "--journal", folder_ / "sweep.jsonl"});
  ASSERT_EQ(RunTool(words).exit_code, 0);
  const std::string journal = ReadText(folder_ / "sweep.jsonl");
  const Json first = Report();
  ASSERT_EQ(RunTool(words).exit_code, 0);
  EXPECT_EQ(ReadText(folder_ / "sweep.jsonl"), journal);
  EXPECT_EQ(Report()["rows"], first["rows"]);
  EXPECT_EQ(Report()["resumed"], 6);
  // Unless that is wanted.
  Words restart = words;
  restart.emplace_back("--restart");
  ASSERT_EQ(RunTool(restart).exit_code, 0);
  EXPECT_NE(ReadText(folder_ / "sweep.jsonl"), journal);
  EXPECT_EQ(Report()["resumed"], 0);
}

TEST_F(SweepTest, AJournalOfAnotherSweepIsLetBe) {
  const std::string journal = folder_ / "sweep.jsonl";
  ASSERT_EQ(RunTool(Sweep({"--provider", "cpu", "--crop", "gather", "--journal",
                           journal}))
                .exit_code,
            0);
  const std::string before = ReadText(journal);
  const ToolRun run = RunTool(
      Sweep({"--provider", "cpu", "--crop", "unfold", "--journal", journal}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("belongs to another sweep"));
  EXPECT_THAT(Lines(run.err), SizeIs(1));
  EXPECT_EQ(ReadText(journal), before);
}

// Everything the tool started must be gone, too.
void KillAfter(const Words& words, std::chrono::milliseconds delay,
               const ToolOptions& options) {
  StartedTool tool(words, options);
  std::this_thread::sleep_for(delay);
  ::kill(tool.pid(), SIGKILL);
  (void)tool.Finish();
}

TEST_F(SweepTest, KilledFiftyTimesItGoesOnToTheSameTable) {
  // Forty combinations, about five a second.
  const Words rows = {"--provider",     "cpu", "--opset", "11,12,13,16,17",
                      "--optimization", "all", "--crop",  "gather"};
  ASSERT_EQ(RunTool(Sweep(rows, "whole.json")).exit_code, 0);
  const Json whole = Report("whole.json");
  const std::size_t count = whole["rows"].size();
  const std::string journal = folder_ / "sweep.jsonl";
  // At first also while the reference runs, later with its results at hand.
  const auto words = [&](int round) {
    Words sweep = Sweep(rows, "sweep.json", round < 10 ? "cold" : "cache");
    sweep.insert(sweep.end(), {"--journal", journal});
    return sweep;
  };
  // What is killed leaves its scratch folder to the next one.
  fs::create_directories(folder_ / "tmp");
  const ToolOptions options = {.environment = {{"TMPDIR", folder_ / "tmp"}},
                               .folder = {}};
  std::mt19937 random(1);
  // Up to the time of about four rows, however fast this machine is.
  const double row_ms =
      whole["total_ms"].get<double>() / static_cast<double>(count);
  std::uniform_int_distribution<int> delay(1, static_cast<int>(row_ms * 4));
  std::string before;
  int grown = 0;
  for (int round = 0; round < 50; ++round) {
    KillAfter(words(round), std::chrono::milliseconds(delay(random)), options);
    const std::string now = ReadText(journal);
    // Whole rows are never lost nor changed; a torn line may end the file.
    const std::string kept = before.substr(0, before.rfind('\n') + 1);
    ASSERT_THAT(now, StartsWith(kept)) << "in round " << round;
    grown += now.size() > before.size() ? 1 : 0;
    before = now;
  }
  const ToolRun run = RunTool(words(50));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(Findings(Report()), Findings(whole));
  EXPECT_THAT(ReadText(journal),
              StartsWith(before.substr(0, before.rfind('\n') + 1)));
  EXPECT_THAT(Lines(ReadText(journal)), SizeIs(1 + count))
      << "a row was repeated";
  EXPECT_GT(grown, 3) << "the kills came too early to tell anything";
  std::cout << "note: the journal grew in " << grown << " of 50 rounds, "
            << Report()["resumed"] << " of " << count
            << " rows were there at the end\n";
}

TEST_F(SweepTest, InterruptedItKeepsItsRowsAndSaysSo) {
  const Words words = Sweep(cpu_);
  StartedTool tool(words, {});
  const fs::path sweeps = folder_ / "cache/sweeps";
  const auto rows = [&] {
    std::size_t lines = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(sweeps, ignored))
      lines += Lines(ReadText(entry.path())).size();
    return lines;
  };
  for (int i = 0; i < 2000 && rows() < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(tool.pid(), SIGINT);
  const ToolRun run = tool.Finish();
  EXPECT_EQ(run.exit_code, 130) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("of 6 rows are in"),
                             HasSubstr("the same command goes on")));
  EXPECT_FALSE(fs::exists(folder_ / "sweep.json"));
  const ToolRun again = RunTool(words);
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_GE(Report()["resumed"], 2);
  EXPECT_EQ(Report()["rows"].size(), 6U);
  EXPECT_TRUE(fs::is_empty(sweeps)) << "complete: a new sweep starts anew";
}

TEST_F(SweepTest, TwoAtOnceShareACache) {
  StartedTool first(Sweep(cpu_, "first.json"), {});
  StartedTool second(Sweep(cpu_, "second.json"), {});
  const ToolRun one = first.Finish();
  const ToolRun two = second.Finish();
  EXPECT_EQ(one.exit_code, 0) << one.out << one.err;
  EXPECT_EQ(two.exit_code, 0) << two.out << two.err;
  EXPECT_EQ(Findings(Report("first.json")), Findings(Report("second.json")));
  EXPECT_TRUE(fs::is_empty(folder_ / "cache/scratch"));
  EXPECT_EQ(ReferenceResults(folder_ / "cache"), 1) << "of one reference";
}

TEST_F(SweepTest, TheSameJournalTwiceAtOnceIsRefused) {
  const Words words =
      Sweep({"--provider", "cpu", "--journal", folder_ / "sweep.jsonl"});
  StartedTool first(words, {});
  while (!fs::exists(folder_ / "sweep.jsonl") && IsAlive(first.pid()))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const ToolRun second = RunTool(words);
  EXPECT_EQ(second.exit_code, 2) << second.out;
  EXPECT_THAT(second.err, HasSubstr("in use by another sweep"));
  EXPECT_EQ(first.Finish().exit_code, 0);
}

TEST_F(SweepTest, AnUnwritableCacheIsOneLine) {
  std::ofstream(folder_ / "file") << "no folder";
  const ToolRun run = RunTool(Sweep(cpu_, "sweep.json", "file/cache"));
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr(folder_ / "file/cache"));
  EXPECT_THAT(Lines(run.err), SizeIs(1)) << run.err;
  EXPECT_FALSE(fs::exists(folder_ / "sweep.json"));
}

TEST_F(SweepTest, AnUnwritableJournalOrReportIsOneLineBeforeAnythingRuns) {
  for (const char* flag : {"--journal", "--json", "--csv", "--markdown"}) {
    const ToolRun run =
        RunTool({"sweep", "--provider", "cpu", "--cache", folder_ / "cache",
                 flag, folder_ / "no/such/folder/file"});
    EXPECT_EQ(run.exit_code, 2) << flag << run.out;
    EXPECT_THAT(Lines(run.err), SizeIs(1)) << flag << run.err;
    EXPECT_THAT(run.err, HasSubstr("no/such/folder")) << flag;
  }
}

TEST_F(SweepTest, AFullDiskIsOneLine) {
  // A disk of one megabyte, in a mount namespace of its own.
  const std::string disk = folder_ / "disk";
  fs::create_directories(disk);
  const std::string script =
      "mount -t tmpfs -o size=1m tmpfs " + disk + " && exec " + PARITY_TOOL +
      " sweep --provider cpu --shape 1x3x64x64 --repeat 1 --cache " + disk +
      " 2> " + (folder_ / "err") + " > " + (folder_ / "out");
  const std::string command =
      "unshare --mount --propagation private sh -c '" + script + "'";
  const int allowed =
      std::system("unshare --mount --propagation private true 2> /dev/null");
  if (allowed != 0)
    GTEST_SKIP() << "this user may not make a mount namespace for a full disk";
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const std::string err = ReadText(folder_ / "err");
  EXPECT_THAT(err,
              AllOf(HasSubstr("No space left on device"), HasSubstr(disk)));
  EXPECT_THAT(Lines(err), SizeIs(1)) << err;
}

TEST_F(SweepTest, UsageErrorsAreOneLineAndHint) {
  const auto error = [&](const Words& words) {
    const ToolRun run = RunTool(Sweep(words));
    EXPECT_EQ(run.exit_code, 2) << run.out;
    return run.err;
  };
  EXPECT_THAT(error({"--crop", "cut"}), HasSubstr("none of unfold"));
  EXPECT_THAT(error({"--shard", "4/3", "--journal", folder_ / "j"}),
              HasSubstr("K from 1 to N"));
  EXPECT_THAT(error({"--shard", "1/3"}), HasSubstr("--journal"));
  EXPECT_THAT(error({"--runtime", "1.2.3"}), HasSubstr("1.2.3"));
  EXPECT_THAT(error({"--torchscript", "a.pt"}), HasSubstr("name it"));
  EXPECT_THAT(error({"--atol", "alpha=1"}), HasSubstr("no such output"));
  EXPECT_THAT(error({PARITY_TEST_DATA "/onnx/layer_norm.onnx"}),
              HasSubstr("no reference"));
  EXPECT_THAT(error({"--model-checkpoint", folder_ / "gone.pth"}),
              HasSubstr("gone.pth"));
  std::ofstream(folder_ / "text.pth") << "no checkpoint";
  EXPECT_THAT(error({"--model-checkpoint", folder_ / "text.pth"}),
              HasSubstr("is a text file"));
  // Also of a shape that is one of several.
  EXPECT_THAT(error({"--shape", "1x4x64x64"}), HasSubstr("1x4x64x64"));
  EXPECT_FALSE(fs::exists(folder_ / "cache/sweeps"));
}

TEST_F(SweepTest, WeightsThatFitOneBackboneLeaveTheOthersTheirRow) {
  const ToolRun run = RunTool(
      Sweep({"--provider", "cpu", "--crop", "gather", "--replace", "scatter_nd",
             "--backbone", "resnet50,mobilenetv2", "--model-checkpoint",
             PARITY_TEST_DATA
             "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const Json sweep = Report();
  ASSERT_EQ(sweep["rows"].size(), 2U);
  EXPECT_EQ(sweep["rows"][0]["axes"]["backbone"], "mobilenetv2");
  EXPECT_EQ(sweep["rows"][0]["verdict"], "passed");
  EXPECT_EQ(sweep["rows"][1]["verdict"], "error");
}

TEST_F(SweepTest, OnATerminalTheProgressNamesTheRow) {
  const ToolRun run =
      RunToolOnTerminal(Sweep({"--provider", "cpu", "--crop", "gather"}));
  EXPECT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("row 1 of 2: scatter_nd"));
  EXPECT_THAT(run.out, HasSubstr("s left)"));
}

}  // namespace
}  // namespace parity
