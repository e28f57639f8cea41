// The main job with real libtorch and real ONNX Runtime: export, validate, the
// verdict and the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sweep_report.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

// One export of the default network for all tests.
class ValidateTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_folder = new TestFolder;
    exported = RunTool({"export", "--output", Model()});
  }
  static void TearDownTestSuite() { delete shared_folder; }
  void SetUp() override { ASSERT_EQ(exported.exit_code, 0) << exported.err; }

  static std::string Model() { return *shared_folder / "model.onnx"; }
  static std::string Json1() { return *shared_folder / "report.json"; }

  // `validate MODEL … --json`.
  static ToolRun Validate(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"validate", Model(), "--json",
                                          Json1()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTool(arguments);
  }

  static const std::vector<std::string>& Small() {
    static const std::vector<std::string> small = {"--shape",
                                                   "src=1x3x128x160"};
    return small;
  }

  static TestFolder* shared_folder;
  static ToolRun exported;
};
TestFolder* ValidateTest::shared_folder = nullptr;
ToolRun ValidateTest::exported;

TEST_F(ValidateTest, ACorrectExportPassesItsWholePlan) {
  const ToolRun run = Validate({});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, EndsWith("\nValidation passed.\n"));
  const Json json = ReadJson(Json1());
  EXPECT_EQ(json["verdict"], "passed");
  ASSERT_EQ(json["cases"].size(), 3U);
  EXPECT_EQ(json["cases"][0]["inputs"][0]["shape"],
            Json::array({1, 3, 720, 1280}));
  for (const Json& entry : json["cases"]) {
    ASSERT_EQ(entry["outputs"].size(), 6U);
    for (const Json& output : entry["outputs"])
      EXPECT_LT(output["comparison"]["max_abs_error"].get<double>(), 1e-4)
          << output["name"];
  }
}

TEST_F(ValidateTest, TheOneDnnFaultIsFoundAndSaidInOneLine) {
  const ToolRun run = Validate({"--shape", "src=2x3x128x160"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  const Json json = ReadJson(Json1());
  const std::string kernels = json["reference"]["kernels"];
  if (kernels.contains("oneDNN"))
    GTEST_SKIP() << "this machine's oneDNN agrees with float64: there is no "
                    "fault to find";
  EXPECT_THAT(run.out, HasSubstr("note oneDNN"));
}

TEST_F(ValidateTest, WithOneDnnForcedTheUserSeesTheUsualFalseFailure) {
  ASSERT_EQ(Validate({"--shape", "src=2x3x128x160"}).exit_code, 0);
  if (ReadJson(Json1())["reference"]["kernels"].get<std::string>().contains(
          "oneDNN")) {
    GTEST_SKIP() << "this machine's oneDNN agrees with float64: there is no "
                    "fault to show";
  }
  const ToolRun run =
      Validate({"--shape", "src=2x3x128x160", "--reference-kernels", "onednn"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("Validation failed:"));
  EXPECT_EQ(ReadJson(Json1())["verdict"], "failed");
}

TEST_F(ValidateTest, ATighterToleranceFailsTheOutputItIsFor) {
  std::vector<std::string> flags = Small();
  flags.insert(flags.end(), {"--atol", "pha=0"});
  const ToolRun run = Validate(flags);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  const Json json = ReadJson(Json1());
  for (const Json& output : json["cases"][0]["outputs"])
    EXPECT_EQ(output["passed"], output["name"] != "pha") << output["name"];
  EXPECT_THAT(run.out, HasSubstr("Validation failed: pha differs by"));
}

TEST_F(ValidateTest, ACheckpointIsTheReference) {
  std::vector<std::string> flags = Small();
  flags.insert(flags.end(),
               {"--checkpoint", PARITY_TEST_DATA
                "/checkpoints/mattingrefine-mobilenetv2-synthetic0.pth"});
  EXPECT_EQ(Validate(flags).exit_code, 0);
}

TEST_F(ValidateTest, OtherWeightsFailAndAreSuspected) {
  std::vector<std::string> flags = Small();
  flags.insert(flags.end(), {"--synthetic-seed", "1"});
  const ToolRun run = Validate(flags);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("exported from other weights"));
}

TEST_F(ValidateTest, AnotherRefineModeFails) {
  std::vector<std::string> flags = Small();
  flags.insert(flags.end(), {"--model-refine-mode", "thresholding",
                             "--model-refine-threshold", "0.9"});
  EXPECT_EQ(Validate(flags).exit_code, 1);
}

TEST_F(ValidateTest, ARecordingIsTheReference) {
  const TestFolder folder;
  ASSERT_EQ(RunTool({"export", "--model-refine-sample-pixels", "1600",
                     "--model-refine-mode", "thresholding",
                     "--model-refine-threshold", "0.99", "--output",
                     folder / "model.onnx"})
                .exit_code,
            0);
  const ToolRun run =
      RunTool({"validate", folder / "model.onnx", "--recorded",
               PARITY_TEST_DATA "/goldens/"
                                "mattingrefine-mobilenetv2-thresholding-k3-s0."
                                "25-1x3x64x96-empty.safetensors"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("recording"));
}

TEST_F(ValidateTest, TheSameSeedGivesTheSameReport) {
  std::vector<std::string> flags = Small();
  flags.insert(flags.end(), {"--seed", "7"});
  const auto errors = [&] {
    EXPECT_EQ(Validate(flags).exit_code, 0);
    std::vector<double> values;
    for (const Json& output : ReadJson(Json1())["cases"][0]["outputs"])
      values.push_back(output["comparison"]["expected_rms"]);
    return values;
  };
  EXPECT_EQ(errors(), errors());
}

TEST_F(ValidateTest, EveryGeneratorRuns) {
  for (const char* generator :
       {"normal", "uniform", "scene", "image", "constant"}) {
    std::vector<std::string> flags = Small();
    flags.insert(flags.end(), {"--generator", generator});
    const ToolRun run = Validate(flags);
    EXPECT_NE(run.exit_code, 2) << generator << run.err;
    EXPECT_THAT(run.out, HasSubstr(generator));
  }
  const ToolRun unknown = Validate({"--generator", "gaussian"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("normal"));
}

TEST_F(ValidateTest, WrongFilesAreSaidToBeWhatTheyAre) {
  const ToolRun torchscript =
      Validate({"--checkpoint",
                PARITY_TEST_DATA "/checkpoints/torchscript_named_pth.pth"});
  EXPECT_EQ(torchscript.exit_code, 2);
  EXPECT_THAT(torchscript.err, HasSubstr("--torchscript"));
  const ToolRun checkpoint = Validate(
      {"--torchscript", PARITY_TEST_DATA "/checkpoints/plain_dict_zip.pth"});
  EXPECT_EQ(checkpoint.exit_code, 2);
  EXPECT_THAT(checkpoint.err, HasSubstr("checkpoint"));
  const ToolRun model =
      RunTool({"validate", PARITY_TEST_DATA "/checkpoints/plain_dict_zip.pth",
               "--synthetic-seed", "0"});
  EXPECT_EQ(model.exit_code, 2);
  EXPECT_THAT(model.err, HasSubstr("PyTorch"));
}

TEST_F(ValidateTest, NoReferenceIsUsageNotAPass) {
  const ToolRun run =
      RunTool({"validate", PARITY_TEST_DATA "/onnx/layer_norm.onnx"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--torchscript"));
}

TEST_F(ValidateTest, ALimitForAnOutputThatDoesNotExistIsRefused) {
  for (const char* flag : {"--atol", "--rtol"}) {
    const ToolRun run = Validate({flag, "phaa=0.001"});
    EXPECT_EQ(run.exit_code, 2) << run.out;
    EXPECT_THAT(run.err, HasSubstr("phaa: the model has no such output"));
  }
}

TEST_F(ValidateTest, WishesThatARecordingCannotFulfilAreRefused) {
  const ToolRun run =
      Validate({"--recorded", "any.safetensors", "--shape", "src=1x3x8x8"});
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("no meaning with it"));
}

TEST_F(ValidateTest, AnErrorIsAlsoInTheJsonFile) {
  EXPECT_EQ(Validate({"--provider", "NoSuchExecutionProvider"}).exit_code, 2);
  const Json json = ReadJson(Json1());
  EXPECT_EQ(json["verdict"], "error");
  EXPECT_THAT(json["error"].get<std::string>(),
              HasSubstr("NoSuchExecutionProvider"));
}

TEST_F(ValidateTest, AnUnwritableReportFailsBeforeAnythingRuns) {
  const ToolRun run =
      RunTool({"validate", Model(), "--json", "/nowhere/report.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/nowhere/report.json"));
}

TEST_F(ValidateTest, TheRuntimesNoiseIsNotShown) {
  const ToolRun run = Validate(Small());
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_THAT(run.out, Not(HasSubstr("Schema error")));
}

TEST_F(ValidateTest, RepeatsAreMeasuredAndNodesAreCounted) {
  const ToolRun run = Validate({"--shape", "src=1x3x128x160", "--repeat", "4"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("(median of 4)"));
  const Json json = ReadJson(Json1());
  EXPECT_EQ(json["cases"][0]["candidate_repeat_ms"].size(), 4U);
  EXPECT_GT(json["candidate"]["provider_nodes"]["CPUExecutionProvider"], 100);
}

TEST_F(ValidateTest, APictureIsAnInput) {
  std::vector<std::string> flags = {
      "--image", "src=" PARITY_TEST_DATA "/images/subject.png", "--image",
      "bgr=" PARITY_TEST_DATA "/images/background.jpg"};
  const ToolRun run = Validate(flags);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("subject.png"));
}

TEST(ExportAndValidateTest, OneCommandDoesBoth) {
  const TestFolder folder;
  const ToolRun run = RunTool({"export", "--model-type", "mattingbase",
                               "--output", folder / "model.onnx", "--validate",
                               "--shape", "src=2x3x64x96"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("hid"));
  EXPECT_THAT(run.out, EndsWith("Validation passed.\n"));
}

TEST(ExportAndValidateTest, Float16InputsAndOutputsAreTheContract) {
  const TestFolder folder;
  const ToolRun run = RunTool(
      {"export", "--model-type", "mattingbase", "--precision", "float16",
       "--output", folder / "model.onnx", "--validate", "--shape",
       "src=1x3x64x96", "--atol", "0.05", "--json", folder / "report.json"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(ReadJson(folder / "report.json")["cases"][0]["outputs"][0]["dtype"],
            "float16");
}

}  // namespace
}  // namespace parity
