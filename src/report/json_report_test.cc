#include "report/json_report.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

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
  EXPECT_EQ(json["weights_sha256"], nullptr);
  const Json& output = json["cases"][0]["outputs"][1];
  EXPECT_EQ(output["name"], "fgr");
  EXPECT_EQ(output["tolerance"]["atol"], 0.001);
  EXPECT_EQ(output["comparison"]["max_abs_position"],
            (Json::array({0, 1, 0, 0})));
  EXPECT_EQ(output["comparison"]["first_mismatch"], nullptr);
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

}  // namespace
}  // namespace parity
