// Small PyTorch/ONNX pairs whose verdict and cause are known
// (tests/data/cases/README.md), through the real program.
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tool_run.h"

namespace parity {
namespace {

using Json = nlohmann::json;

struct LabelledCase {
  std::string name;
  std::filesystem::path folder;
  Json label;
};

// For messages.
void PrintTo(const LabelledCase& labelled, std::ostream* out) {
  *out << labelled.name;
}

std::vector<LabelledCase> Cases() {
  std::vector<LabelledCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(PARITY_TEST_DATA) / "cases")) {
    if (!entry.is_directory()) continue;
    std::ifstream file(entry.path() / "case.json");
    cases.push_back({.name = entry.path().filename().string(),
                     .folder = entry.path(),
                     .label = Json::parse(file)});
  }
  return cases;
}

std::string NameOf(const ::testing::TestParamInfo<LabelledCase>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

class LabelledCaseTest : public ::testing::TestWithParam<LabelledCase> {
 protected:
  // The report of a run over the first `count` sets of inputs.
  Json Validate(std::size_t count, const std::vector<std::string>& more) {
    const LabelledCase& labelled = GetParam();
    const Json& label = labelled.label;
    std::vector<std::string> arguments = {
        "validate",       labelled.folder / "model.onnx",
        "--torchscript",  labelled.folder / "reference.pt",
        "--criterion",    "noise",
        "--json",         folder_ / "report.json",
        "--provider",     label["runtime"]["provider"],
        "--optimization", label["runtime"]["optimization"]};
    for (std::size_t i = 0; i < count; ++i) {
      const std::string set = label["sets"][i];
      arguments.insert(
          arguments.end(),
          {"--inputs", labelled.folder / "inputs" / (set + ".safetensors")});
    }
    if (label["reference"]["outputs"].size() > 1) {
      std::string names;
      for (const std::string name : label["reference"]["outputs"])
        names += (names.empty() ? "" : ",") + name;
      arguments.insert(arguments.end(), {"--reference-outputs", names});
    }
    if (label["reference"]["mkldnn"].get<bool>())
      arguments.insert(arguments.end(), {"--reference-kernels", "onednn"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    run_ = RunTool(arguments);
    std::ifstream file(folder_ / "report.json");
    return Json::parse(file, nullptr, /*allow_exceptions=*/false);
  }

  void ExpectLabel(const Json& report) {
    ASSERT_TRUE(report.is_object()) << run_.err;
    const Json& expected = GetParam().label["expect"];
    const std::string verdict = expected["verdict"];
    if (GetParam().label.contains("unstable") && report["verdict"] == "passed")
      GTEST_SKIP() << "oneDNN computes this convolution right on this machine: "
                      "the fault that the case is about does not occur";
    EXPECT_EQ(report["verdict"], verdict == "pass"   ? "passed"
                                 : verdict == "fail" ? "failed"
                                                     : "error")
        << run_.out << run_.err;
    EXPECT_EQ(run_.exit_code, verdict == "pass"   ? 0
                              : verdict == "fail" ? 1
                                                  : 2);
    ExpectCause(report, expected["cause"]);
    if (!GetParam().label["diverging_node"].is_null()) {
      EXPECT_EQ(report["node"], GetParam().label["diverging_node"]) << run_.out;
    }
  }

  // Where nothing needs an explanation, rounding of a last place or two may be
  // mentioned.
  void ExpectCause(const Json& report, const Json& expected) {
    if (expected.is_null()) {
      EXPECT_TRUE(report["cause"].is_null() || report["cause"] == "rounding")
          << report["cause"] << run_.out;
      return;
    }
    EXPECT_EQ(report["cause"], expected) << run_.out << run_.err;
  }

  TestFolder folder_;
  ToolRun run_;
};

TEST_P(LabelledCaseTest, AllSetsGiveTheVerdictTheCauseAndTheNode) {
  ExpectLabel(Validate(GetParam().label["sets"].size(), {}));
}

TEST_P(LabelledCaseTest, TheFirstSetAndItsVariationsGiveTheSameVerdict) {
  const Json report = Validate(1, {"--vary"});
  // A selection between equal scores that our own inputs bring about is no
  // fault of the pair, and neither is NaN on both sides.
  if (GetParam().label["expect"]["cause"].is_null() &&
      report["cause"] == "tie") {
    EXPECT_EQ(report["verdict"], "passed") << run_.out;
    return;
  }
  ExpectLabel(report);
}

INSTANTIATE_TEST_SUITE_P(Cases, LabelledCaseTest, ::testing::ValuesIn(Cases()),
                         NameOf);

TEST(LabelledCasesTest, TheCasesAreThere) { EXPECT_GE(Cases().size(), 28U); }

}  // namespace
}  // namespace parity
