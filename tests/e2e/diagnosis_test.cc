// Causes and ties on exports of the built-in network, through the real program.
// The labelled pairs are in labelled_cases_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/onnx/onnx_reader.h"
#include "formats/onnx/onnx_writer.h"
#include "graph/model.h"
#include "parity/error.h"
#include "tool_run.h"

namespace parity {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;

class DiagnosisTest : public ::testing::Test {
 protected:
  std::string Export(const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"export", "--output",
                                          folder_ / "model.onnx"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const ToolRun run = RunTool(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return folder_ / "model.onnx";
  }

  Json Validate(const std::string& model,
                const std::vector<std::string>& flags) {
    std::vector<std::string> arguments = {"validate", model, "--json",
                                          folder_ / "report.json"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    run_ = RunTool(arguments);
    std::ifstream file(folder_ / "report.json");
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  TestFolder folder_;
  ToolRun run_;
};

std::string EvidenceOf(const Json& finding, const std::string& name) {
  for (const Json& entry : finding["evidence"]) {
    if (entry["name"] == name) return entry["value"];
  }
  return "";
}

// Planar patches indexed by b·H·W instead of b·C·H·W: here, where pixels are
// rows, by b·W·cell instead of b·H·W. At batch 1 nothing is wrong.
TEST_F(DiagnosisTest, ThePublishedBatchIndexBugFailsAtBatchTwoAsAnExportFault) {
  const std::string path =
      Export({"--model-refine-patch-crop-method", "gather"});
  Result<Model> model = ReadOnnxModel(path);
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const auto strides = std::ranges::find(
      model->graph.nodes, "/refiner/crop_full/Concat", &Node::name);
  ASSERT_NE(strides, model->graph.nodes.end());
  strides->inputs[0] = strides->inputs[1];
  const std::string bad = folder_ / "bad.onnx";
  ASSERT_TRUE(WriteOnnxModel(*model, bad).has_value());

  EXPECT_EQ(Validate(bad, {"--shape", "src=1x3x64x96"})["verdict"], "passed")
      << run_.out;
  const Json report = Validate(bad, {"--shape", "src=2x3x64x96"});
  EXPECT_EQ(run_.exit_code, 1) << run_.out << run_.err;
  EXPECT_EQ(report["cause"], "export") << run_.out;
  EXPECT_THAT(report["node"].get<std::string>(),
              StartsWith("/refiner/crop_full/"));
}

TEST_F(DiagnosisTest, ASaturatedErrorMapIsATieAndPassesWithANote) {
  const std::string model = Export({});
  const std::vector<std::string> saturated = {"--shape", "src=1x3x512x512",
                                              "--generator", "saturated"};
  const Json report = Validate(model, saturated);
  if (report["cause"] == "rounding")
    GTEST_SKIP() << "both sides select the same cells on this machine";
  EXPECT_EQ(report["verdict"], "passed") << run_.out << run_.err;
  EXPECT_EQ(report["cause"], "tie") << run_.out;
  const Json& tie = report["findings"][0];
  EXPECT_EQ(tie["op"], "TopK");
  EXPECT_GT(std::stol(EvidenceOf(
                tie, "cells selected otherwise than by the reference")),
            0);
  EXPECT_LT(std::stod(EvidenceOf(tie, "largest score gap at a differing cell")),
            std::stod(EvidenceOf(tie, "noise of the scores")));
  EXPECT_LT(std::stod(EvidenceOf(tie, "max difference outside them")), 1e-4);

  std::vector<std::string> strict = saturated;
  strict.emplace_back("--strict-ties");
  const Json failed = Validate(model, strict);
  EXPECT_EQ(failed["verdict"], "failed");
  EXPECT_EQ(failed["cause"], "tie");
}

TEST_F(DiagnosisTest, AProviderThatAbortsIsNamedWithItsSignal) {
  const std::string model = Export({});
  const Json report = Validate(model, {"--shape", "src=1x3x64x96", "--provider",
                                       "XnnpackExecutionProvider"});
  if (report["verdict"] == "passed")
    GTEST_SKIP() << "this ONNX Runtime's Xnnpack provider runs the network";
  EXPECT_EQ(run_.exit_code, 2) << run_.out << run_.err;
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_EQ(report["cause"], "provider");
  const std::string message = report["findings"][0]["message"];
  EXPECT_THAT(message, HasSubstr("XnnpackExecutionProvider"));
  EXPECT_THAT(message, HasSubstr("signal 6"));
}

TEST_F(DiagnosisTest, TheDnnlProvidersFaultIsTheProviders) {
  const std::string model = Export({});
  const Json report = Validate(model, {"--shape", "src=2x3x256x320",
                                       "--provider", "DnnlExecutionProvider"});
  if (report["verdict"] == "passed")
    GTEST_SKIP() << "oneDNN computes the convolutions right on this machine";
  EXPECT_EQ(run_.exit_code, 1) << run_.out << run_.err;
  EXPECT_EQ(report["cause"], "provider");
  EXPECT_EQ(report["findings"][0]["op"], "Conv");
}

TEST_F(DiagnosisTest, NothingIsExplainedWhenNobodyWantsIt) {
  const std::string model = Export({});
  const Json report = Validate(model, {"--shape", "src=1x3x64x96", "--atol",
                                       "1e-12", "--explain", "never"});
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_TRUE(report["cause"].is_null());
  EXPECT_TRUE(report["findings"].empty());
}

TEST_F(DiagnosisTest, AToleranceTighterThanFloat32FailsByRoundingAlone) {
  const std::string model = Export({});
  const Json report =
      Validate(model, {"--shape", "src=1x3x64x96", "--atol", "1e-8"});
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_EQ(report["cause"], "rounding") << run_.out;
  EXPECT_THAT(run_.out, HasSubstr("by rounding alone"));
  EXPECT_THAT(run_.out, HasSubstr("would hold"));
}

}  // namespace
}  // namespace parity
