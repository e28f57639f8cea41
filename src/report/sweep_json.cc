#include "report/sweep_json.h"

#include <format>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json_number.h"
#include "base/version.h"
#include "parity/sweep.h"
#include "sweep/sweep_row_json.h"

namespace parity {

std::string FormatSweepJson(const SweepResult& result,
                            const std::vector<std::string>& command_line) {
  using Json = nlohmann::ordered_json;
  const SweepRow* const recommended = result.recommended();
  Json rows = Json::array();
  for (const SweepRow& row : result.rows) rows.push_back(ToJson(row));
  const Json json = {
      {"schema_version", kSweepJsonSchemaVersion},
      {"tool", {{"name", "onnx-parity"}, {"version", kVersion}}},
      {"command_line", command_line},
      {"plan", result.plan},
      {"title", result.title},
      {"row_count", result.row_count},
      {"shard", std::format("{}/{}", result.shard.index, result.shard.count)},
      {"resumed", result.resumed},
      {"recommended",
       recommended == nullptr ? Json(nullptr) : Json(recommended->index)},
      {"notes", result.notes},
      {"rows", std::move(rows)},
      {"total_ms", JsonNumber<Json>(result.total_ms)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parity
