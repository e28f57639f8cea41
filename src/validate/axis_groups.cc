#include "validate/axis_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "parity/tensor.h"
#include "validate/contract.h"

namespace parity {
namespace {

bool NamesABatch(std::string_view name) {
  return name.empty() || name.contains("batch") || name.contains("Batch") ||
         name == "N" || name == "n" || name == "B" || name == "b";
}

std::size_t RankOf(const NamedTensors& inputs, const InputAxis& axis) {
  return inputs[axis.input].tensor.shape().size();
}

std::int64_t SizeOf(const NamedTensors& inputs, const InputAxis& axis) {
  return inputs[axis.input].tensor.shape()[axis.axis];
}

AxisGroup MakeGroup(const NamedTensors& inputs, const InputAxis& axis,
                    const std::string& name) {
  const bool is_batch = axis.axis == 0 && RankOf(inputs, axis) > 1;
  std::string label = name;
  if (is_batch && NamesABatch(name)) label = "batch";
  if (label.empty())
    label = std::format("{} axis {}", inputs[axis.input].name, axis.axis);
  return {.label = std::move(label),
          .axes = {axis},
          .size = SizeOf(inputs, axis),
          .is_batch = is_batch};
}

// Null when its shape is not declared, or with another rank.
const std::vector<Dimension>* DeclaredShape(const Contract& contract,
                                            const NamedTensor& input) {
  const auto declared =
      std::ranges::find(contract.inputs, input.name, &ValueInfo::name);
  if (declared == contract.inputs.end() || !declared->shape ||
      declared->shape->size() != input.tensor.shape().size())
    return nullptr;
  return &*declared->shape;
}

bool BelongTogether(const NamedTensors& inputs, const AxisGroup& group,
                    const AxisGroup& other) {
  const InputAxis& first = group.axes.front();
  const InputAxis& second = other.axes.front();
  return group.size == other.size && first.axis == second.axis &&
         RankOf(inputs, first) == RankOf(inputs, second) &&
         std::ranges::none_of(other.axes, [&](const InputAxis& axis) {
           return std::ranges::contains(group.axes, axis.input,
                                        &InputAxis::input);
         });
}

std::string JointLabel(const NamedTensors& inputs, const InputAxis& axis) {
  const std::size_t rank = RankOf(inputs, axis);
  if (axis.axis == 0 && rank > 1) return "batch";
  if (rank == 4 && axis.axis == 2) return "height";
  if (rank == 4 && axis.axis == 3) return "width";
  return std::format("axis {}", axis.axis);
}

}  // namespace

std::vector<AxisGroup> OpenAxisGroups(const NamedTensors& inputs,
                                      const Contract& contract) {
  std::vector<AxisGroup> groups;
  std::map<std::string, std::size_t> by_name;
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const std::vector<Dimension>* const declared =
        DeclaredShape(contract, inputs[input]);
    if (declared == nullptr) continue;
    for (std::size_t axis = 0; axis < declared->size(); ++axis) {
      const Dimension& dimension = (*declared)[axis];
      const InputAxis place = {.input = input, .axis = axis};
      if (dimension.value) continue;
      if (!dimension.name.empty()) {
        const auto [known, is_new] =
            by_name.try_emplace(dimension.name, groups.size());
        if (!is_new) {
          groups[known->second].axes.push_back(place);
          continue;
        }
      }
      groups.push_back(MakeGroup(inputs, place, dimension.name));
    }
  }
  std::erase_if(groups, [&](const AxisGroup& group) {
    return std::ranges::any_of(group.axes, [&](const InputAxis& axis) {
      return SizeOf(inputs, axis) != group.size;
    });
  });
  return groups;
}

std::vector<AxisGroup> JoinAxisGroups(const NamedTensors& inputs,
                                      const std::vector<AxisGroup>& groups) {
  std::vector<AxisGroup> joined;
  for (const AxisGroup& group : groups) {
    const auto partner =
        std::ranges::find_if(joined, [&](const AxisGroup& other) {
          return BelongTogether(inputs, group, other);
        });
    if (partner == joined.end()) {
      joined.push_back(group);
      continue;
    }
    partner->axes.insert(partner->axes.end(), group.axes.begin(),
                         group.axes.end());
    partner->label = JointLabel(inputs, partner->axes.front());
  }
  return joined;
}

}  // namespace parity
