// The command line itself: help, usage errors, export and inspect, files.
// Nothing here needs libtorch or ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx/onnx_reader.h"
#include "graph/model.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::size_t Lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(CliTest, HelpAndVersionGoToStandardOutput) {
  const ToolRun help = RunTool({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.out,
              HasSubstr("Exit codes: 0 passed, 1 failed, 2 could not tell"));
  EXPECT_THAT(help.err, IsEmpty());
  for (const char* command : {"export", "validate", "sweep", "merge", "inspect",
                              "runtime", "completion"}) {
    EXPECT_THAT(help.out, HasSubstr(command));
    EXPECT_EQ(RunTool({command, "--help"}).exit_code, 0) << command;
  }
  EXPECT_THAT(RunTool({"--version"}).out, StartsWith("onnx-parity "));
}

TEST(CliTest, WrongUsageIsOneLineAndAHintWithExitCode2) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"frobnicate"},
      {"validate"},
      {"validate", "m.onnx", "--frobnicate"},
      {"merge"},
      {"merge", "a.jsonl", "--require", "some"},
      {"export"},
      {"export", "--output", "x.onnx", "--model-refine-patch-crop-method",
       "scissors"},
      {"validate", "m.onnx", "--checkpoint", "a", "--torchscript", "b"},
      {"validate", "m.onnx", "--attribute", "a=b"},
      {"validate", "m.onnx", "--optimization", "some"},
      {"validate", "m.onnx", "--runtime", "1.20.1", "--runtime-library", "x"},
      {"runtime"},
      {"runtime", "frobnicate"},
      {"runtime", "add"},
      {"runtime", "remove"},
      {"runtime", "add", "1.20.1", "--integrity", "sha512-x"},
      {"runtime", "add", "1.20.1", "1.22.0", "--package", "x.tgz"},
      {"completion", "tcsh"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const ToolRun run = RunTool(arguments);
    EXPECT_EQ(run.exit_code, 2) << ::testing::PrintToString(arguments);
    EXPECT_THAT(run.err, StartsWith("onnx-parity: error: "))
        << ::testing::PrintToString(arguments);
    EXPECT_LE(Lines(run.err), 2U) << run.err;
    EXPECT_THAT(run.out, IsEmpty());
  }
}

// Every "--flag-name" in a text.
std::set<std::string> FlagsIn(const std::string& text) {
  std::set<std::string> flags;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-";
  for (std::size_t start = text.find(" --"); start != std::string::npos;
       start = text.find(" --", start + 1)) {
    const std::size_t end = text.find_first_not_of(kLetters, start + 1);
    flags.insert(text.substr(start + 1, end - start - 1));
  }
  return flags;
}

std::string InTroff(const std::string& flag) {
  std::string escaped;
  for (const char c : flag) escaped += c == '-' ? "\\-" : std::string(1, c);
  return escaped;
}

TEST(CliTest, EveryFlagIsCompletedAndInTheManPage) {
  const std::string manual = RunTool({"manual"}).out;
  const std::string bash = RunTool({"completion", "bash"}).out;
  const std::string zsh = RunTool({"completion", "zsh"}).out;
  const std::string fish = RunTool({"completion", "fish"}).out;
  for (const char* command : {"export", "validate"}) {
    const std::set<std::string> flags =
        FlagsIn(RunTool({command, "--help"}).out);
    EXPECT_GT(flags.size(), 15U);
    for (const std::string& flag : flags) {
      EXPECT_THAT(bash, HasSubstr(flag));
      EXPECT_THAT(zsh, HasSubstr("'*" + flag + "["));
      EXPECT_THAT(fish, HasSubstr("-l " + flag.substr(2)));
      EXPECT_THAT(manual, HasSubstr(InTroff(flag)));
    }
  }
}

TEST(CliTest, CommandsWithinCommandsAreCompletedAndInTheManPage) {
  const std::string bash = RunTool({"completion", "bash"}).out;
  EXPECT_THAT(bash, HasSubstr("\"runtime add\") flags=\"--help --package "));
  EXPECT_THAT(bash, HasSubstr("compgen -W \"add list remove\""));
  const std::string zsh = RunTool({"completion", "zsh"}).out;
  EXPECT_THAT(zsh, HasSubstr("runtime) _onnx_parity_runtime ;;"));
  EXPECT_THAT(zsh, HasSubstr("'remove:"));
  EXPECT_THAT(RunTool({"completion", "fish"}).out,
              HasSubstr("__fish_seen_subcommand_from runtime; and "
                        "__fish_seen_subcommand_from add' -l package"));
  EXPECT_THAT(RunTool({"manual"}).out,
              HasSubstr(".SH \"ONNX\\-PARITY runtime add\""));
}

TEST(CliTest, ColoursAreOnlyForTerminals) {
  EXPECT_THAT(RunTool({"inspect", "nothing.onnx"}).err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RunToolOnTerminal({"inspect", "nothing.onnx"}).out,
              HasSubstr("\x1b[31merror:\x1b[0m"));
  EXPECT_THAT(
      RunToolOnTerminal({"inspect", "nothing.onnx"},
                        {.environment = {{"NO_COLOR", "1"}}, .folder = {}})
          .out,
      Not(HasSubstr("\x1b[31m")));
}

// ---- export ----

TEST(ExportTest, TakesThePublishedCommandLine) {
  const TestFolder folder;
  const ToolRun run = RunTool(
      {"export",
       "--model-type",
       "mattingrefine",
       "--model-checkpoint",
       PARITY_TEST_DATA "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth",
       "--model-backbone",
       "mobilenetv2",
       "--model-backbone-scale",
       "0.25",
       "--model-refine-mode",
       "sampling",
       "--model-refine-sample-pixels",
       "80000",
       "--model-refine-patch-crop-method",
       "roi_align",
       "--model-refine-patch-replace-method",
       "scatter_element",
       "--onnx-opset-version",
       "11",
       "--onnx-constant-folding",
       "--precision",
       "float32",
       "--device",
       "cpu",
       "--output",
       folder / "model.onnx"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("mattingrefine mobilenetv2, float32, opset 11"));
  EXPECT_THAT(run.err, Not(HasSubstr("SYNTHETIC")));
  const auto model = ReadOnnxModel(folder / "model.onnx");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->opset_version(), 11);
  EXPECT_EQ(model->metadata.at("weights"),
            "mattingrefine-mobilenetv2-synthetic0.pth");
}

TEST(ExportTest, SyntheticWeightsAreSaidLoudlyAndKeptInTheFile) {
  const TestFolder folder;
  const ToolRun run = RunTool(
      {"export", "--synthetic-seed", "3", "--output", folder / "model.onnx"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.err, HasSubstr("SYNTHETIC weights (seed 3)"));
  EXPECT_EQ(ReadOnnxModel(folder / "model.onnx")->metadata.at("weights"),
            "synthetic seed 3");
}

TEST(ExportTest, TheCheckpointOfTheSyntheticWeightsGivesTheSameGraph) {
  const TestFolder folder;
  ASSERT_EQ(RunTool({"export", "--output", folder / "a.onnx"}).exit_code, 0);
  ASSERT_EQ(RunTool({"export", "--model-checkpoint",
                     PARITY_TEST_DATA
                     "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth",
                     "--output", folder / "b.onnx"})
                .exit_code,
            0);
  const auto a = ReadOnnxModel(folder / "a.onnx");
  const auto b = ReadOnnxModel(folder / "b.onnx");
  EXPECT_EQ(a->metadata.at("weights_sha256"), b->metadata.at("weights_sha256"));
  ASSERT_EQ(a->graph.initializers.size(), b->graph.initializers.size());
  for (std::size_t i = 0; i < a->graph.initializers.size(); ++i) {
    ASSERT_TRUE(std::ranges::equal(a->graph.initializers[i].tensor.bytes(),
                                   b->graph.initializers[i].tensor.bytes()))
        << a->graph.initializers[i].name;
  }
}

TEST(ExportTest, BadValuesWriteNothing) {
  const TestFolder folder;
  const std::map<std::vector<std::string>, std::string> wrong = {
      {{"--onnx-opset-version", "10"}, "10"},
      {{"--model-backbone-scale", "0.75"},
       "backbone_scale 0.75 is outside (0, 0.5]"},
      {{"--model-refine-kernel-size", "5"},
       "refine_kernel_size 5 is neither 1 nor 3"},
      {{"--model-backbone", "vgg"}, "'vgg' is none of"},
      {{"--model-checkpoint", folder / "missing.pth"}, "missing.pth"},
      {{"--model-checkpoint",
        PARITY_TEST_DATA "/checkpoints/malicious_reduce.pth"},
       "never calls"},
      {{"--model-backbone", "resnet50", "--model-checkpoint",
        PARITY_TEST_DATA
        "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth"},
       "backbone"},
  };
  for (const auto& [flags, message] : wrong) {
    std::vector<std::string> arguments = {"export", "--output",
                                          folder / "model.onnx"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ToolRun run = RunTool(arguments);
    EXPECT_EQ(run.exit_code, 2) << message;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_THAT(folder.Entries(), IsEmpty());
  }
}

TEST(ExportTest, AnUnwritableFolderIsOneLine) {
  const ToolRun run = RunTool({"export", "--output", "/nowhere/model.onnx"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              HasSubstr("onnx-parity: error: cannot write /nowhere/model.onnx: "
                        "No such file or directory\n"));
}

TEST(ExportTest, AFullDiskIsOneLine) {
  const ToolRun run = RunTool({"export", "--output", "/dev/full"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err,
              HasSubstr("cannot write /dev/full: No space left on device\n"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

// ---- inspect ----

TEST(InspectTest, ShowsAnOnnxFile) {
  const TestFolder folder;
  ASSERT_EQ(RunTool({"export", "--output", folder / "model.onnx"}).exit_code,
            0);
  const ToolRun run = RunTool({"inspect", folder / "model.onnx"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("ai.onnx 12"));
  EXPECT_THAT(run.out, HasSubstr("float32 batch x 3 x height x width"));
  EXPECT_THAT(run.out, HasSubstr("  RoiAlign"));
  EXPECT_THAT(run.out, HasSubstr("refine_mode: sampling"));
}

TEST(InspectTest, ShowsTheTensorsOfCheckpointsAndSafetensors) {
  EXPECT_THAT(RunTool({"inspect",
                       PARITY_TEST_DATA "/checkpoints/nested_state_dict.pth"})
                  .out,
              HasSubstr("state_dict"));
  const ToolRun run = RunTool(
      {"inspect", PARITY_TEST_DATA
       "/goldens/"
       "mattingrefine-mobilenetv2-full-k1-s0.25-1x3x64x96.safetensors"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1x3x64x96"));
}

TEST(InspectTest, SaysWhatTheWrongFileIs) {
  const TestFolder folder;
  std::ofstream(folder / "readme.txt") << "hello\n";
  std::ofstream(folder / "empty").close();
  EXPECT_THAT(RunTool({"inspect", folder / "readme.txt"}).err,
              HasSubstr("text"));
  EXPECT_THAT(RunTool({"inspect", folder / "empty"}).err, HasSubstr("empty"));
  EXPECT_THAT(RunTool({"inspect", PARITY_TEST_DATA
                       "/checkpoints/torchscript_named_pth.pth"})
                  .err,
              HasSubstr("--torchscript"));
  EXPECT_THAT(RunTool({"inspect", folder.path().string()}).err,
              HasSubstr("is a folder"));
  for (const char* name : {"readme.txt", "empty", "missing"})
    EXPECT_EQ(RunTool({"inspect", folder / name}).exit_code, 2);
}

}  // namespace
}  // namespace parity
