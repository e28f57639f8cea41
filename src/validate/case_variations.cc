// Each group of open axes gets its sizes, and the groups take turns.
#include "validate/case_variations.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/axis_groups.h"
#include "validate/contract.h"
#include "validate/varied_inputs.h"

namespace parity {
namespace {

constexpr std::size_t kMostVariations = 32;
constexpr std::size_t kMostBatches = 4;
constexpr std::size_t kMostSizes = 15;
constexpr std::size_t kMostIntegers = 6;
constexpr std::int64_t kMostGrowth = 4;
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;
constexpr std::array<std::int64_t, 3> kBatches = {2, 1, 3};

std::vector<std::int64_t> SizesFor(const AxisGroup& group) {
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size :
       {std::int64_t{5}, 2 * group.size + 1, std::int64_t{1}, std::int64_t{3},
        std::int64_t{2}, group.size - 1}) {
    if (size > 0 && size != group.size && !std::ranges::contains(sizes, size))
      sizes.push_back(size);
  }
  return sizes;
}

class Planner {
 public:
  explicit Planner(const NamedTensors& inputs) : inputs_(inputs) {
    for (const NamedTensor& input : inputs)
      shapes_.push_back(input.tensor.shape());
  }

  // False when it is out of bounds or known already.
  bool AddShapes(
      VariationKind kind, const std::string& name,
      const std::vector<std::pair<const AxisGroup*, std::int64_t>>& sizes) {
    std::vector<Shape> shapes = shapes_;
    for (const auto& [group, size] : sizes) {
      for (const InputAxis& axis : group->axes)
        shapes[axis.input][axis.axis] = size;
    }
    if (shapes == shapes_ || !Fits(shapes) ||
        std::ranges::contains(planned_, shapes, &CaseVariation::shapes))
      return false;
    planned_.push_back(
        {.name = Unique(name), .kind = kind, .shapes = std::move(shapes)});
    return true;
  }

  void AddValues(const std::string& name, ValueChange change, double operand,
                 const std::string& input = {}) {
    planned_.push_back({.name = Unique(name),
                        .kind = VariationKind::kValues,
                        .shapes = shapes_,
                        .change = change,
                        .operand = operand,
                        .input = input});
  }

  [[nodiscard]] std::vector<CaseVariation> Take() {
    if (planned_.size() > kMostVariations) planned_.resize(kMostVariations);
    return std::move(planned_);
  }

 private:
  [[nodiscard]] bool Fits(const std::vector<Shape>& shapes) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const Tensor& given = inputs_[i].tensor;
      const Result<std::int64_t> count = ElementCount(shapes[i]);
      if (!count || *count > kMostGrowth * std::max<std::int64_t>(
                                               given.element_count(), 1))
        return false;
      bytes += *count * ByteSize(given.dtype());
    }
    return bytes <= kMostBytes;
  }

  std::string Unique(const std::string& name) {
    std::string unique = name;
    for (int i = 2; !names_.insert(unique).second; ++i)
      unique = std::format("{} ({})", name, i);
    return unique;
  }

  const NamedTensors& inputs_;
  std::vector<Shape> shapes_;
  std::set<std::string> names_;
  std::vector<CaseVariation> planned_;
};

void PlanBatches(const std::vector<AxisGroup>& groups, std::size_t most,
                 Planner& planner) {
  std::size_t count = 0;
  for (const std::int64_t size : kBatches) {
    for (const AxisGroup& group : groups) {
      if (group.is_batch && count < most &&
          planner.AddShapes(VariationKind::kBatch,
                            std::format("{} {}", group.label, size),
                            {{&group, size}}))
        ++count;
    }
  }
}

// The groups of the two last axes of the first picture whose both are open.
std::optional<std::pair<const AxisGroup*, const AxisGroup*>> PictureAxes(
    const NamedTensors& inputs, const std::vector<AxisGroup>& groups) {
  const auto group_of = [&](const InputAxis& axis) -> const AxisGroup* {
    const auto found = std::ranges::find_if(groups, [&](const AxisGroup& g) {
      return std::ranges::contains(g.axes, axis);
    });
    return found == groups.end() ? nullptr : &*found;
  };
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const std::size_t rank = inputs[input].tensor.shape().size();
    if (rank < 4) continue;
    const AxisGroup* const height = group_of({input, rank - 2});
    const AxisGroup* const width = group_of({input, rank - 1});
    if (height != nullptr && width != nullptr) return {{height, width}};
  }
  return std::nullopt;
}

void PlanSizes(const NamedTensors& inputs, const std::vector<AxisGroup>& groups,
               const std::vector<AxisGroup>& joined, Planner& planner) {
  std::size_t count = 0;
  if (const auto picture = PictureAxes(inputs, joined)) {
    const auto& [height, width] = *picture;
    // Resized to a power of two, 14 and 28 are where a scale that was rounded
    // in float32 reads the neighbour of a pixel: (64 / 28) · 28 / 64 < 1.
    for (const auto& [h, w] : {std::pair<std::int64_t, std::int64_t>{3, 12},
                               {2, 2},
                               {17, 5},
                               {14, 28}}) {
      if (height == width && h != w) continue;
      count += planner.AddShapes(VariationKind::kSize,
                                 std::format("size {}x{}", h, w),
                                 {{height, h}, {width, w}})
                   ? 1
                   : 0;
    }
  }
  // In turns, so that no axis takes all the places; alone after together.
  const auto take_turns = [&](const std::vector<AxisGroup>& some,
                              std::size_t turns) {
    for (std::size_t turn = 0; turn < turns; ++turn) {
      for (const AxisGroup& group : some) {
        const std::vector<std::int64_t> sizes = SizesFor(group);
        if (group.is_batch || turn >= sizes.size() || count >= kMostSizes)
          continue;
        count +=
            planner.AddShapes(VariationKind::kSize,
                              std::format("{} {}", group.label, sizes[turn]),
                              {{&group, sizes[turn]}})
                ? 1
                : 0;
      }
    }
  };
  take_turns(joined, 3);
  take_turns(groups, 2);
  take_turns(joined, 6);
}

void PlanValues(const NamedTensors& inputs, Planner& planner) {
  bool any = false;      // has floating values
  bool varied = false;   // and not all equal
  bool nonzero = false;  // and not all zero
  bool ones = true;      // all equal to 1
  bool can_be_offset = false;
  for (const NamedTensor& input : inputs) {
    const Tensor& tensor = input.tensor;
    if (!IsFloating(tensor.dtype()) || tensor.element_count() == 0) continue;
    const ValueRange range = RangeOf(tensor);
    any = true;
    varied |= range.low < range.high;
    nonzero |= range.low != 0 || range.high != 0;
    ones &= range.low == 1 && range.high == 1;
    can_be_offset |= CanBeOffset(tensor.dtype());
  }
  if (!any) return;
  if (nonzero) planner.AddValues("zeros", ValueChange::kConstant, 0);
  if (!ones) planner.AddValues("ones", ValueChange::kConstant, 1);
  if (varied) {
    planner.AddValues("steps of 1/8", ValueChange::kSteps, 0.125);
    planner.AddValues("range ends", ValueChange::kRangeEnds, 0);
  }
  if (can_be_offset)
    planner.AddValues("offset 1000", ValueChange::kOffset, 1000);
  if (nonzero) {
    planner.AddValues("negated", ValueChange::kScale, -1);
    planner.AddValues("zero row", ValueChange::kZeroRow, 0);
    planner.AddValues("times 8", ValueChange::kScale, 8);
  }
  if (can_be_offset)
    planner.AddValues("offset 40000", ValueChange::kOffset, 40000);
  if (nonzero) planner.AddValues("tiny", ValueChange::kScale, 1e-4);
  if (varied) planner.AddValues("all equal", ValueChange::kMiddle, 0);
}

// Reads the one element of an integer tensor; nothing for other tensors.
std::optional<std::int64_t> OnlyInteger(const Tensor& tensor) {
  if (tensor.element_count() != 1 || !IsInteger(tensor.dtype()))
    return std::nullopt;
  std::uint64_t bits = 0;
  std::memcpy(&bits, tensor.bytes().data(), tensor.bytes().size());
  return static_cast<std::int64_t>(bits);
}

void PlanIntegers(const NamedTensors& inputs, Planner& planner) {
  std::size_t count = 0;
  for (const NamedTensor& input : inputs) {
    const std::optional<std::int64_t> given = OnlyInteger(input.tensor);
    if (!given) continue;
    for (const std::int64_t value :
         {*given + 6, std::int64_t{0}, std::int64_t{1}}) {
      // 127 is the most that every integer dtype holds.
      if (value == *given || value < 0 || value > 127 || count >= kMostIntegers)
        continue;
      planner.AddValues(std::format("{} {}", input.name, value),
                        ValueChange::kInteger, static_cast<double>(value),
                        input.name);
      ++count;
    }
  }
}

}  // namespace

std::vector<CaseVariation> PlanVariations(const NamedTensors& inputs,
                                          const Contract& contract) {
  Planner planner(inputs);
  const std::vector<AxisGroup> groups = OpenAxisGroups(inputs, contract);
  const std::vector<AxisGroup> joined = JoinAxisGroups(inputs, groups);
  PlanBatches(joined, kMostBatches, planner);
  PlanBatches(groups, kMostBatches / 2, planner);
  PlanSizes(inputs, groups, joined, planner);
  PlanIntegers(inputs, planner);
  PlanValues(inputs, planner);
  return planner.Take();
}

}  // namespace parity
