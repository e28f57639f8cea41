// One row of a sweep as JSON: a line of the journal, an entry of the report.
// The keys are documented in docs/json_report.md.
#ifndef PARITY_SWEEP_SWEEP_ROW_JSON_H_
#define PARITY_SWEEP_SWEEP_ROW_JSON_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "parity/error.h"
#include "parity/sweep.h"

namespace parity {

[[nodiscard]] nlohmann::ordered_json ToJson(const SweepRow& row);

// The same as one line, without the line end. Numbers come back as they were,
// bit by bit; texts that are no UTF-8 do not.
[[nodiscard]] std::string EncodeSweepRow(const SweepRow& row);

// Keys it does not know are ignored, and so are those that follow from others:
// provider, provider_ran_nothing. Errors: kCorrupt, naming the first key that
// is missing or has no value it can have.
[[nodiscard]] Result<SweepRow> DecodeSweepRow(std::string_view line);

}  // namespace parity

#endif  // PARITY_SWEEP_SWEEP_ROW_JSON_H_
