// Numbers in JSON, which has none that are not finite: those are texts.
#ifndef PARITY_BASE_JSON_NUMBER_H_
#define PARITY_BASE_JSON_NUMBER_H_

#include <cmath>
#include <limits>
#include <optional>

namespace parity {

// The number, or "NaN", "inf", "-inf". `Json` is a type of nlohmann's.
template <class Json>
[[nodiscard]] Json JsonNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// What JsonNumber() made of it; nothing for any other JSON.
template <class Json>
[[nodiscard]] std::optional<double> NumberOf(const Json& json) {
  if (json.is_number()) return json.template get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace parity

#endif  // PARITY_BASE_JSON_NUMBER_H_
