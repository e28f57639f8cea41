#include "backend/ort/node_profile.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace parity {
namespace {

using Json = nlohmann::json;

// "" when there is no such text.
std::string TextOf(const Json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string()
             ? member->get<std::string>()
             : std::string();
}

}  // namespace

std::map<std::string, std::int64_t> CountProviderNodes(
    std::string_view profile) {
  std::map<std::string, std::int64_t> nodes;
  const Json events = Json::parse(profile, nullptr, /*allow_exceptions=*/false);
  if (!events.is_array()) return nodes;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Json& event : events) {
    // Older versions also have events "…_fence_before" of each node.
    if (!event.is_object() || TextOf(event, "cat") != "Node") continue;
    std::string name = TextOf(event, "name");
    if (!name.ends_with("_kernel_time")) continue;
    const auto arguments = event.find("args");
    if (arguments == event.end() || !arguments->is_object()) continue;
    const std::string provider = TextOf(*arguments, "provider");
    if (provider.empty()) continue;
    // Names need not be there, nor different from each other.
    name += TextOf(*arguments, "node_index");
    if (seen.emplace(provider, std::move(name)).second) ++nodes[provider];
  }
  return nodes;
}

}  // namespace parity
