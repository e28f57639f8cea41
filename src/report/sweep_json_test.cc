#include "report/sweep_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/version.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "report/sample_sweep.h"
#include "sweep/sweep_row_json.h"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

TEST(SweepJsonTest, HoldsTheWholeSweep) {
  SweepResult result = SampleSweep();
  result.shard = {.index = 2, .count = 3};
  const std::string text = FormatSweepJson(result, {"onnx-parity", "sweep"});
  EXPECT_TRUE(text.ends_with("}\n"));
  Json json = Json::parse(text);
  const Json rows = json["rows"];
  json.erase("rows");
  EXPECT_EQ(json.dump(),
            R"({"schema_version":1,"tool":{"name":"onnx-parity","version":")" +
                std::string(kVersion) +
                R"("},"command_line":["onnx-parity","sweep"],"plan":"00ff",)"
                R"("title":"crop × provider","row_count":6,"shard":"2/3",)"
                R"("resumed":1,"recommended":1,)"
                R"("notes":["oneDNN convolutions are wrong on this machine"],)"
                R"("total_ms":61230.0})");
  ASSERT_EQ(rows.size(), result.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i].dump(), EncodeSweepRow(result.rows[i]));
}

TEST(SweepJsonTest, NothingToShipIsNull) {
  const Json json = Json::parse(FormatSweepJson({}, {}));
  EXPECT_EQ(json["recommended"], nullptr);
  EXPECT_EQ(json["rows"], Json::array());
  EXPECT_EQ(json["shard"], "1/1");
}

TEST(SweepJsonTest, ARowCanBeReadBack) {
  SweepResult result = SampleSweep();
  result.rows[0].worst_difference = std::numeric_limits<double>::quiet_NaN();
  const Json json = Json::parse(FormatSweepJson(result, {}));
  EXPECT_EQ(json["rows"][0]["worst"]["difference"], "NaN");
  const Result<SweepRow> row = DecodeSweepRow(json["rows"][0].dump());
  ASSERT_TRUE(row.has_value()) << row.error().message;
  EXPECT_TRUE(std::isnan(row->worst_difference));
}

}  // namespace
}  // namespace parity
