#include "graph_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/model.h"
#include "networks/background_matting.h"
#include "networks/synthetic_weights.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// FNV-1a over words instead of bytes: models have millions of weights.
std::uint64_t HashOf(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (; !bytes.empty();
       bytes = bytes.subspan(std::min(bytes.size(), sizeof hash))) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
    hash = (hash ^ word) * 0x100000001B3;
  }
  return hash;
}

std::string Text(const Tensor& tensor) {
  return std::format("{}[{}]{:x}", Name(tensor.dtype()),
                     ToString(tensor.shape()), HashOf(tensor.bytes()));
}

std::string Text(const AttributeValue& value) {
  if (const auto* const number = std::get_if<float>(&value))
    return std::format("{}", *number);
  if (const auto* const integer = std::get_if<std::int64_t>(&value))
    return std::format("{}", *integer);
  if (const auto* const text = std::get_if<std::string>(&value)) return *text;
  if (const auto* const list = std::get_if<std::vector<std::int64_t>>(&value))
    return ToString(*list);
  if (const auto* const tensor = std::get_if<Tensor>(&value))
    return Text(*tensor);
  return std::format("kind {}", value.index());
}

}  // namespace

std::vector<std::string> GraphLines(const Graph& graph) {
  std::map<std::string_view, std::string> constants;
  for (const Initializer& initializer : graph.initializers)
    constants.emplace(initializer.name, Text(initializer.tensor));
  std::vector<std::string> lines;
  for (const Node& node : graph.nodes) {
    std::string line = node.op_type;
    std::set<std::string> attributes;
    for (const Attribute& attribute : node.attributes)
      attributes.insert(attribute.name + "=" + Text(attribute.value));
    for (const std::string& attribute : attributes) line += ' ' + attribute;
    line += " (";
    for (const std::string& input : node.inputs) {
      const auto found = constants.find(input);
      line += (found == constants.end() ? input : found->second) + ' ';
    }
    line += ") →";
    for (const std::string& output : node.outputs) line += ' ' + output;
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> LinesOnlyIn(const std::vector<std::string>& a,
                                     const std::vector<std::string>& b) {
  const std::multiset<std::string> others(b.begin(), b.end());
  std::vector<std::string> only;
  for (const std::string& line : a) {
    if (!others.contains(line)) only.push_back(line);
  }
  return only;
}

const Model& MattingModel(bool folded) {
  static const Model models[] = {
      BuildBackgroundMatting({}, *SyntheticWeights({}, 0),
                             {.constant_folding = false})
          .value()
          .model,
      BuildBackgroundMatting({}, *SyntheticWeights({}, 0),
                             {.constant_folding = true})
          .value()
          .model};
  return models[folded ? 1 : 0];
}

}  // namespace parity
