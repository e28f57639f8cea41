#include "diagnose/rounding_casts.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "diagnose/value_standing.h"
#include "graph/model.h"

namespace parity {
namespace {

// TensorProto.DataType
constexpr std::int64_t kOnnxFloat16 = 10;
constexpr std::int64_t kOnnxBFloat16 = 16;

bool IsTo16Bits(const Node& node) {
  const AttributeValue* const to = node.FindAttribute("to");
  const auto* const type =
      to == nullptr ? nullptr : std::get_if<std::int64_t>(to);
  return node.op_type == "Cast" && type != nullptr &&
         (*type == kOnnxFloat16 || *type == kOnnxBFloat16);
}

}  // namespace

std::vector<const Node*> RoundingCasts(const Graph& graph) {
  std::unordered_set<std::string_view> cast_again;
  std::unordered_set<std::string_view> used;
  for (const ValueInfo& output : graph.outputs) used.insert(output.name);
  for (const Node& node : graph.nodes) {
    // To 16 bits once more: that cast is looked at.
    const bool only_casts = node.op_type == "Cast";
    for (const std::string_view value : UsedValues(node))
      (only_casts ? cast_again : used).insert(value);
  }
  std::vector<const Node*> casts;
  for (const Node& node : graph.nodes) {
    if (IsTo16Bits(node) &&
        std::ranges::all_of(node.outputs, [&](const std::string& output) {
          return cast_again.contains(output) && !used.contains(output);
        }))
      casts.push_back(&node);
  }
  return casts;
}

}  // namespace parity
