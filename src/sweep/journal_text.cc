#include "sweep/journal_text.h"

#include <charconv>
#include <cstddef>
#include <expected>
#include <format>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "base/status_macros.h"
#include "base/version.h"
#include "parity/error.h"
#include "parity/sweep.h"
#include "sweep/sweep_row_json.h"

namespace parity {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormatKey = "onnx_parity_sweep";
constexpr int kFormatVersion = 1;
constexpr std::string_view kHeaderStart = "{\"onnx_parity_sweep\":";

// The whole text as a number from 1 up.
std::optional<std::size_t> Positive(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    return std::nullopt;
  return number;
}

std::optional<Shard> ShardOf(const Json& json) {
  if (!json.is_string()) return std::nullopt;
  const std::string text = json.get<std::string>();
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  const auto index = Positive(std::string_view(text).substr(0, slash));
  const auto count = Positive(std::string_view(text).substr(slash + 1));
  if (!index || !count || *index > *count) return std::nullopt;
  return Shard{.index = *index, .count = *count};
}

Result<JournalHeader> DecodeHeader(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains(kFormatKey))
    return Fail(ErrorCode::kCorrupt, "not the journal of a sweep");
  if (json[kFormatKey] != kFormatVersion) {
    return Fail(
        ErrorCode::kUnsupported,
        std::format("a journal of format {}; this version of the "
                    "tool reads format {}",
                    Printable(json[kFormatKey].dump(), 40), kFormatVersion));
  }
  const auto wrong = [](const char* key) {
    return Fail(ErrorCode::kCorrupt,
                std::format("its first line has no usable '{}'", key));
  };
  JournalHeader header;
  const Json null;
  const auto member = [&](const char* key) -> const Json& {
    const auto found = json.find(key);
    return found == json.end() ? null : *found;
  };
  if (!member("plan").is_string()) return wrong("plan");
  header.plan = member("plan").get<std::string>();
  if (!member("title").is_string()) return wrong("title");
  header.title = member("title").get<std::string>();
  if (!member("row_count").is_number_unsigned()) return wrong("row_count");
  header.row_count = member("row_count").get<std::size_t>();
  const std::optional<Shard> shard = ShardOf(member("shard"));
  if (!shard) return wrong("shard");
  header.shard = *shard;
  if (!member("notes").is_array()) return wrong("notes");
  for (const Json& note : member("notes")) {
    if (!note.is_string()) return wrong("notes");
    header.notes.push_back(note.get<std::string>());
  }
  return header;
}

Result<SweepRow> DecodeRow(std::string_view line, const JournalHeader& header) {
  PARITY_ASSIGN_OR_RETURN(SweepRow row, DecodeSweepRow(line));
  if (row.index < header.row_count) return row;
  return Fail(ErrorCode::kCorrupt, std::format("row {} of a sweep of {} rows",
                                               row.index, header.row_count));
}

}  // namespace

std::string EncodeJournalHeader(const JournalHeader& header) {
  const Json json = {{kFormatKey, kFormatVersion},
                     {"plan", header.plan},
                     {"title", header.title},
                     {"row_count", header.row_count},
                     {"shard", ToString(header.shard)},
                     {"tool_version", kVersion},
                     {"notes", header.notes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool IsTornHeader(std::string_view text) {
  if (text.contains('\n')) return false;
  return text.size() < kHeaderStart.size() ? kHeaderStart.starts_with(text)
                                           : text.starts_with(kHeaderStart);
}

Result<JournalContents> ParseJournal(std::string_view text,
                                     std::string_view name) {
  const auto at = [name](Error error) {
    return std::unexpected(std::move(error).In(name));
  };
  if (IsTornHeader(text)) {
    return at({.code = ErrorCode::kCorrupt,
               .message = "its first line is incomplete: the sweep was stopped "
                          "before it had a row"});
  }
  std::size_t end = text.find('\n');
  if (end == std::string_view::npos) {
    return at(
        {.code = ErrorCode::kCorrupt, .message = "not the journal of a sweep"});
  }
  Result<JournalHeader> header = DecodeHeader(text.substr(0, end));
  if (!header) return at(std::move(header).error());
  JournalContents contents;
  contents.header = *std::move(header);
  std::set<std::size_t> seen;
  std::size_t start = end + 1;
  for (std::size_t line = 2; start < text.size(); ++line, start = end + 1) {
    end = text.find('\n', start);
    const bool complete = end != std::string_view::npos;
    const bool last = !complete || end + 1 == text.size();
    Result<SweepRow> row =
        DecodeRow(text.substr(start, end - start), contents.header);
    if (last && !(complete && row)) {
      contents.notes.push_back(
          std::format("{}: its last line is incomplete, as after a kill; that "
                      "row is left out",
                      name));
      contents.whole_bytes = start;
      return contents;
    }
    if (!row)
      return at(std::move(row).error().In(std::format("line {}", line)));
    if (seen.insert(row->index).second) {
      contents.rows.push_back(*std::move(row));
    } else {
      contents.notes.push_back(
          std::format("{}: line {} is row {} once more; the first one counts",
                      name, line, row->index));
    }
  }
  contents.whole_bytes = text.size();
  return contents;
}

std::string ToString(const Shard& shard) {
  return std::format("{}/{}", shard.index, shard.count);
}

}  // namespace parity
