#include "report/json_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/validation.h"
#include "report/sample_result.h"

namespace parity {
namespace {

using Json = nlohmann::json;

TEST(JsonReportTest, HoldsEverythingTheTerminalShows) {
  const Json json = Json::parse(FormatJsonReport(
      SampleResult(), {}, {"onnx-parity", "validate", "model.onnx"}));
  EXPECT_EQ(json["schema_version"], kJsonSchemaVersion);
  EXPECT_EQ(json["verdict"], "passed");
  EXPECT_EQ(json["reasons"], Json::array());
  EXPECT_EQ(json["command_line"][1], "validate");
  EXPECT_EQ(json["model"]["sha256"], "00ff");
  EXPECT_EQ(json["reference"]["version"], "libtorch 2.6.0");
  EXPECT_EQ(json["reference"]["cached"], false);
  EXPECT_EQ(json["weights_sha256"], nullptr);
  const Json& output = json["cases"][0]["outputs"][1];
  EXPECT_EQ(output["name"], "fgr");
  EXPECT_EQ(output["tolerance"]["atol"], 0.001);
  EXPECT_EQ(output["comparison"]["max_abs_position"],
            (Json::array({0, 1, 0, 0})));
  EXPECT_EQ(output["comparison"]["first_mismatch"], nullptr);
}

Finding SampleFinding() {
  return {.cause = Cause::kOptimizer,
          .confidence = Confidence::kCertain,
          .message = "X breaks it",
          .case_name = "standard",
          .outputs = {"pha"},
          .node = "/layer1/conv/Conv",
          .op = "Conv",
          .module = "layer1.conv",
          .evidence = {{.name = "max error", .value = "1e-7"}},
          .fails = true};
}

TEST(JsonReportTest, AReferenceFromTheCacheIsSaidToBe) {
  ValidationResult result = SampleResult();
  result.reference.cached = true;
  const Json json = Json::parse(FormatJsonReport(result, {}, {}));
  EXPECT_EQ(json["reference"]["cached"], true);
  EXPECT_EQ(json["candidate"]["cached"], false);
}

TEST(JsonReportTest, TheFirstFindingIsTheCause) {
  ValidationResult result = SampleResult();
  Finding note;
  note.fails = false;
  result.findings = {SampleFinding(), note};
  result.explain_ms = 12;
  const Json json = Json::parse(FormatJsonReport(result, {}, {}));
  EXPECT_EQ(json["verdict"], "failed");
  EXPECT_EQ(json["cause"], "optimizer");
  EXPECT_EQ(json["node"], "/layer1/conv/Conv");
  EXPECT_EQ(json["module"], "layer1.conv");
  EXPECT_EQ(json["explain_ms"], 12);
  EXPECT_EQ(
      json["findings"][0],
      (Json{{"cause", "optimizer"},
            {"confidence", "certain"},
            {"fails", true},
            {"message", "X breaks it"},
            {"case", "standard"},
            {"outputs", {"pha"}},
            {"node", "/layer1/conv/Conv"},
            {"op", "Conv"},
            {"module", "layer1.conv"},
            {"evidence",
             Json::array({{{"name", "max error"}, {"value", "1e-7"}}})}}));
  EXPECT_EQ(json["findings"][1]["cause"], "rounding");
  EXPECT_EQ(json["findings"][1]["confidence"], "likely");
  EXPECT_EQ(json["findings"][1]["fails"], false);
  EXPECT_EQ(json["findings"][1]["node"], nullptr);
  EXPECT_EQ(json["findings"][1]["case"], nullptr);
}

TEST(JsonReportTest, WithoutFindingsTheCauseIsNull) {
  for (const std::string& text :
       {FormatJsonReport(SampleResult(), {}, {}),
        FormatJsonError({.code = ErrorCode::kIo, .message = "m"}, {}, {})}) {
    const Json json = Json::parse(text);
    EXPECT_EQ(json.at("cause"), nullptr);
    EXPECT_EQ(json.at("node"), nullptr);
    EXPECT_EQ(json.at("module"), nullptr);
    EXPECT_EQ(json.at("findings"), Json::array());
  }
}

TEST(JsonReportTest, BudgetsSayWhoMoved) {
  ValidationResult result = SampleResult();
  OutputResult& output = result.cases[0].outputs[0];
  output.excused_as_tie = true;
  output.budget.emplace();
  output.budget->total = {.rms = 1, .max = 2};
  output.budget->runtime =
      ErrorSize{.rms = 3, .max = std::numeric_limits<double>::infinity()};
  output.budget->noise_max = 0.5;
  output.budget->verdict = NoiseVerdict::kBeyond;
  const Json json = Json::parse(FormatJsonReport(result, {}, {}));
  const Json& entry = json["cases"][0]["outputs"][0];
  EXPECT_EQ(entry["tie"], true);
  EXPECT_EQ(entry["budget"]["noise"], "beyond");
  EXPECT_EQ(entry["budget"]["times_noise"], 4);
  EXPECT_EQ(entry["budget"]["total"]["rms"], 1);
  EXPECT_EQ(entry["budget"]["runtime_error"]["max"], "inf");
  EXPECT_EQ(entry["budget"]["reference_error"], nullptr);
  EXPECT_EQ(entry["budget"]["export_error"], nullptr);
  EXPECT_EQ(json["cases"][0]["outputs"][1]["tie"], false);
  EXPECT_EQ(json["cases"][0]["outputs"][1]["budget"], nullptr);
}

TEST(JsonReportTest, CasesThatDidNotRunAndOptionsAreThere) {
  ValidationResult result = SampleResult();
  result.cases[0].error =
      Error{.code = ErrorCode::kBackend, .message = "Reshape"};
  ValidationOptions options;
  options.criterion = Criterion::kNoise;
  options.strict_ties = true;
  const Json json = Json::parse(FormatJsonReport(result, options, {}));
  EXPECT_EQ(json["cases"][0]["error"], "Reshape");
  EXPECT_EQ(json["cases"][0]["passed"], false);
  EXPECT_EQ(json["options"]["criterion"], "noise");
  EXPECT_EQ(json["options"]["strict_ties"], true);
}

TEST(JsonReportTest, AModelThatDoesNotLoadHasACauseAndAnError) {
  ValidationResult result = SampleResult();
  result.cases.clear();
  result.error = Error{.code = ErrorCode::kBackend, .message = "no kernel"};
  result.findings = {SampleFinding()};
  result.findings[0].cause = Cause::kLoad;
  const Json json = Json::parse(FormatJsonReport(result, {}, {}));
  EXPECT_EQ(json["verdict"], "error");
  EXPECT_EQ(json["error"], "no kernel");
  EXPECT_EQ(json["cause"], "load");
}

TEST(JsonReportTest, NumbersThatAreNotFiniteAreStrings) {
  ValidationResult result = SampleResult();
  result.cases[0].outputs[0].comparison->mean_error =
      std::numeric_limits<double>::quiet_NaN();
  result.cases[0].outputs[0].comparison->max_rel_error =
      std::numeric_limits<double>::infinity();
  const Json json = Json::parse(FormatJsonReport(result, {}, {}));
  EXPECT_EQ(json["cases"][0]["outputs"][0]["comparison"]["mean_error"], "NaN");
  EXPECT_EQ(json["cases"][0]["outputs"][0]["comparison"]["max_rel_error"],
            "inf");
}

TEST(JsonReportTest, ARunThatCouldNotTellSaysError) {
  const Json json = Json::parse(FormatJsonError(
      {.code = ErrorCode::kWorkerDied, .message = "the candidate worker died"},
      {}, {}));
  EXPECT_EQ(json["verdict"], "error");
  EXPECT_EQ(json["error"], "the candidate worker died");
  ValidationResult empty = SampleResult();
  empty.cases.clear();
  EXPECT_EQ(Json::parse(FormatJsonReport(empty, {}, {}))["verdict"], "error");
}

TEST(JsonReportTest, TextThatIsNoUtf8DoesNotBreakTheFile) {
  ValidationResult result = SampleResult();
  result.notes = {"name \xff\xfe"};
  EXPECT_TRUE(Json::accept(FormatJsonReport(result, {}, {"\xff"})));
}

TEST(JsonReportTest, ReportsOfSeveralRuntimesNameThem) {
  const Json json = Json::parse(FormatJsonRuntimes(
      {{.runtime = "1.20.1",
        .report = FormatJsonReport(SampleResult(), {}, {})},
       {.runtime = "system",
        .report = FormatJsonError({.code = ErrorCode::kIo, .message = "no"}, {},
                                  {})}}));
  EXPECT_EQ(json["schema_version"], kJsonSchemaVersion);
  ASSERT_EQ(json["runtimes"].size(), 2U);
  EXPECT_EQ(json["runtimes"][0]["runtime"], "1.20.1");
  EXPECT_EQ(json["runtimes"][0]["verdict"], "passed");
  EXPECT_EQ(json["runtimes"][0]["cases"][0]["name"],
            Json::parse(
                FormatJsonReport(SampleResult(), {}, {}))["cases"][0]["name"]);
  EXPECT_EQ(json["runtimes"][1]["runtime"], "system");
  EXPECT_EQ(json["runtimes"][1]["error"], "no");
}

}  // namespace
}  // namespace parity
