#include "sweep/sweep_row_json.h"

#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_number.h"
#include "parity/diagnosis.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "parity/validation.h"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

Json Number(double value) { return JsonNumber<Json>(value); }

Json Number(const std::optional<double>& value) {
  return value ? Number(*value) : Json(nullptr);
}

Json Worst(const SweepRow& row) {
  if (row.worst_output.empty()) return nullptr;
  return {{"output", row.worst_output},
          {"case", row.worst_case},
          {"difference", Number(row.worst_difference)},
          {"limit", Number(row.worst_limit)}};
}

// The enumerator of that name, of an enum whose last one is `last`.
template <class Enum>
std::optional<Enum> Named(std::string_view name, Enum last) {
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    if (Name(static_cast<Enum>(value)) == name) return static_cast<Enum>(value);
  }
  return std::nullopt;
}

// Reads the members of an object. The first that is missing or of another type
// is remembered; reads then give empty values.
class RowReader {
 public:
  explicit RowReader(const Json& object) : object_(object) {}

  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  void Refuse(std::string_view key) {
    if (wrong_.empty()) wrong_ = key;
  }

  // Null when the member is missing.
  const Json* Member(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    Refuse(key);
    return nullptr;
  }
  std::string Text(const char* key) {
    const Json* const member = Member(key);
    if (member != nullptr && member->is_string())
      return member->get<std::string>();
    Refuse(key);
    return {};
  }
  std::int64_t Count(const char* key) {
    const Json* const member = Member(key);
    const std::optional<std::int64_t> count =
        member == nullptr ? std::nullopt : CountOf(*member);
    if (!count) Refuse(key);
    return count.value_or(0);
  }
  double RequiredNumber(const char* key) {
    const std::optional<double> number = OptionalNumber(key);
    if (!number) Refuse(key);
    return number.value_or(0);
  }
  std::optional<double> OptionalNumber(const char* key) {
    const Json* const member = Member(key);
    if (member == nullptr || member->is_null()) return std::nullopt;
    const std::optional<double> number = NumberOf(*member);
    if (!number) Refuse(key);
    return number;
  }
  // Null when it is missing or no object.
  const Json* Object(const char* key) {
    const Json* const member = Member(key);
    if (member != nullptr && member->is_object()) return member;
    Refuse(key);
    return nullptr;
  }
  // An integer from 0 up.
  static std::optional<std::int64_t> CountOf(const Json& json) {
    if (!json.is_number_unsigned()) return std::nullopt;
    const auto count = json.get<std::uint64_t>();
    if (count > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return static_cast<std::int64_t>(count);
  }

 private:
  const Json& object_;
  std::string wrong_;
};

void ReadAxes(RowReader& reader, SweepRow& row) {
  const Json* const axes = reader.Object("axes");
  if (axes == nullptr) return;
  for (const auto& [axis, value] : axes->items()) {
    if (!value.is_string()) return reader.Refuse("axes");
    row.axes.push_back({.axis = axis, .value = value.get<std::string>()});
  }
}

void ReadVerdict(RowReader& reader, SweepRow& row) {
  const auto verdict = Named(reader.Text("verdict"), Verdict::kUndecided);
  if (!verdict) return reader.Refuse("verdict");
  row.verdict = *verdict;
  const Json* const cause = reader.Member("cause");
  if (cause == nullptr || cause->is_null()) return;
  row.cause = cause->is_string()
                  ? Named(cause->get<std::string>(), Cause::kNondeterministic)
                  : std::nullopt;
  if (!row.cause) reader.Refuse("cause");
}

void ReadWorst(RowReader& reader, SweepRow& row) {
  const Json* const worst = reader.Member("worst");
  if (worst == nullptr || worst->is_null()) return;
  if (!worst->is_object()) return reader.Refuse("worst");
  RowReader members(*worst);
  row.worst_output = members.Text("output");
  row.worst_case = members.Text("case");
  row.worst_difference = members.RequiredNumber("difference");
  row.worst_limit = members.RequiredNumber("limit");
  if (!members.wrong().empty()) reader.Refuse("worst." + members.wrong());
}

void ReadProviderNodes(RowReader& reader, SweepRow& row) {
  const Json* const nodes = reader.Object("provider_nodes");
  if (nodes == nullptr) return;
  for (const auto& [provider, value] : nodes->items()) {
    const std::optional<std::int64_t> count = RowReader::CountOf(value);
    if (!count) return reader.Refuse("provider_nodes");
    row.provider_nodes[provider] = *count;
  }
}

}  // namespace

Json ToJson(const SweepRow& row) {
  Json axes = Json::object();
  for (const AxisValue& entry : row.axes) axes[entry.axis] = entry.value;
  Json nodes = Json::object();
  for (const auto& [provider, count] : row.provider_nodes)
    nodes[provider] = count;
  return {
      {"row", row.index},
      {"axes", std::move(axes)},
      {"provider", row.Axis("provider").empty() ? Json(nullptr)
                                                : Json(row.Axis("provider"))},
      {"verdict", Name(row.verdict)},
      {"cause", row.cause ? Json(Name(*row.cause)) : Json(nullptr)},
      {"message", row.message},
      {"worst", Worst(row)},
      {"runtime_version", row.runtime_version},
      {"load_ms", Number(row.load_ms)},
      {"first_run_ms", Number(row.first_run_ms)},
      {"steady_run_ms", Number(row.steady_run_ms)},
      {"repeats", row.repeats},
      {"peak_rss_bytes", row.peak_rss_bytes},
      {"provider_nodes", std::move(nodes)},
      {"provider_ran_nothing", row.provider_ran_nothing()},
      {"total_ms", Number(row.total_ms)},
      {"command", row.command}};
}

std::string EncodeSweepRow(const SweepRow& row) {
  return ToJson(row).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SweepRow> DecodeSweepRow(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return Fail(ErrorCode::kCorrupt, "not a JSON object");
  RowReader reader(json);
  SweepRow row;
  row.index = static_cast<std::size_t>(reader.Count("row"));
  ReadAxes(reader, row);
  ReadVerdict(reader, row);
  row.message = reader.Text("message");
  ReadWorst(reader, row);
  row.runtime_version = reader.Text("runtime_version");
  row.load_ms = reader.OptionalNumber("load_ms");
  row.first_run_ms = reader.OptionalNumber("first_run_ms");
  row.steady_run_ms = reader.OptionalNumber("steady_run_ms");
  row.repeats = reader.Count("repeats");
  row.peak_rss_bytes = reader.Count("peak_rss_bytes");
  ReadProviderNodes(reader, row);
  row.total_ms = reader.RequiredNumber("total_ms");
  row.command = reader.Text("command");
  if (reader.wrong().empty()) return row;
  return Fail(ErrorCode::kCorrupt,
              std::format("'{}' is missing or has no value it can have",
                          reader.wrong()));
}

}  // namespace parity
