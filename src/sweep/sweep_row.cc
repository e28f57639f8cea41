#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "parity/sweep.h"
#include "sweep/axis_value.h"

namespace parity {
namespace {

// "cpu" and "CPUExecutionProvider" are the same provider.
std::string Canonical(std::string_view provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (provider.ends_with(kSuffix)) provider.remove_suffix(kSuffix.size());
  std::string name(provider);
  std::ranges::transform(name, name.begin(), [](unsigned char character) {
    return static_cast<char>(std::tolower(character));
  });
  return name;
}

}  // namespace

std::string_view SweepRow::Axis(std::string_view axis) const {
  return ValueOf(axes, axis);
}

bool SweepRow::provider_ran_nothing() const {
  const std::string wanted = Canonical(Axis("provider"));
  if (wanted.empty() || provider_nodes.empty()) return false;
  return std::ranges::none_of(provider_nodes, [&](const auto& entry) {
    return entry.second > 0 && Canonical(entry.first) == wanted;
  });
}

}  // namespace parity
