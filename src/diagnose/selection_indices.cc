// Operators that turn decisions made before them into indices: their flips are
// never ties of their own.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "diagnose/selection_kinds.h"
#include "graph/model.h"
#include "parity/tensor.h"

namespace parity {
namespace {

using Index = std::vector<std::int64_t>;

// One flip for each index that is in one set only, as far as they do not stand
// for each other.
Flips Difference(const std::set<Index>& expected, const std::set<Index>& chosen,
                 std::size_t listed) {
  const auto missing_in = [](const std::set<Index>& from,
                             const std::set<Index>& other) {
    return std::ranges::count_if(
        from, [&](const Index& index) { return !other.contains(index); });
  };
  const std::int64_t count =
      std::max(missing_in(expected, chosen), missing_in(chosen, expected)) +
      static_cast<std::int64_t>(listed - chosen.size());  // listed twice
  return count == 0 ? Flips{} : AllWrong(count);
}

// Corners: y1, x1, y2, x2 (in that order).
using Box = std::array<double, 4>;

Box BoxAt(const std::vector<double>& boxes, std::size_t index, bool centred) {
  const double* const b = boxes.data() + index * 4;
  if (centred) {
    return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
  }
  return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]),
          std::max(b[1], b[3])};
}

double OverlapOverUnion(const Box& a, const Box& b) {
  const auto area = [](const Box& box) {
    return std::max(box[2] - box[0], 0.0) * std::max(box[3] - box[1], 0.0);
  };
  const double overlap = area({std::max(a[0], b[0]), std::max(a[1], b[1]),
                               std::min(a[2], b[2]), std::min(a[3], b[3])});
  const double either = area(a) + area(b) - overlap;
  return either > 0 ? overlap / either : 0;
}

double FirstOr(const std::vector<Tensor>& inputs, std::size_t index,
               double otherwise) {
  if (index >= inputs.size()) return otherwise;
  const std::vector<double> values = ElementsAsDoubles(inputs[index]);
  return values.empty() ? otherwise : values.front();
}

// The boxes of one class, kept greedily from the best score down.
std::vector<std::size_t> KeptBoxes(const std::vector<Box>& boxes,
                                   const std::vector<double>& scores,
                                   double most, double max_overlap,
                                   double min_score) {
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b];
  });
  std::vector<std::size_t> kept;
  for (const std::size_t index : order) {
    if (static_cast<double>(kept.size()) >= most) break;
    const bool is_covered = std::ranges::any_of(kept, [&](std::size_t other) {
      return OverlapOverUnion(boxes[index], boxes[other]) > max_overlap;
    });
    if (scores[index] > min_score && !is_covered) kept.push_back(index);
  }
  return kept;
}

}  // namespace

Flips CheckNonZero(const Tensor& scores, const Tensor& chosen) {
  const std::vector<double> values = ElementsAsDoubles(scores);
  const std::vector<std::int64_t> indices = ElementsAsIntegers(chosen);
  // A scalar counts as one axis here.
  const Shape shape = scores.shape().empty() ? Shape{1} : scores.shape();
  if (chosen.shape().size() != 2 ||
      chosen.shape()[0] != static_cast<std::int64_t>(scores.shape().size()) ||
      static_cast<std::int64_t>(indices.size()) != chosen.element_count())
    return AllWrong(chosen.element_count());
  std::set<Index> expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    Index index = UnravelIndex(static_cast<std::int64_t>(i), shape);
    index.resize(scores.shape().size());
    expected.insert(std::move(index));
  }
  const auto columns = static_cast<std::size_t>(chosen.shape()[1]);
  std::set<Index> got;
  for (std::size_t column = 0; column < columns; ++column) {
    Index index;
    for (std::size_t row = 0; row < scores.shape().size(); ++row)
      index.push_back(indices[row * columns + column]);
    got.insert(std::move(index));
  }
  if (scores.shape().empty()) return Difference(expected, got, got.size());
  return Difference(expected, got, columns);
}

Flips CheckNonMaxSuppression(const Node& node,
                             const std::vector<Tensor>& inputs,
                             const Tensor& chosen) {
  const Shape& boxes_shape = inputs[0].shape();   // batch, boxes, 4
  const Shape& scores_shape = inputs[1].shape();  // batch, classes, boxes
  if (boxes_shape.size() != 3 || scores_shape.size() != 3 ||
      boxes_shape[2] != 4 || boxes_shape[0] != scores_shape[0] ||
      boxes_shape[1] != scores_shape[2] || chosen.shape().size() != 2 ||
      chosen.shape()[1] != 3)
    return AllWrong(chosen.element_count());
  const std::vector<double> boxes = ElementsAsDoubles(inputs[0]);
  const std::vector<double> scores = ElementsAsDoubles(inputs[1]);
  const bool centred = IntegerAttributeOr(node, "center_point_box", 0) != 0;
  const auto count = static_cast<std::size_t>(boxes_shape[1]);
  std::set<Index> expected;
  for (std::int64_t batch = 0; batch < scores_shape[0]; ++batch) {
    std::vector<Box> of_batch;
    of_batch.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      of_batch.push_back(
          BoxAt(boxes, static_cast<std::size_t>(batch) * count + i, centred));
    }
    for (std::int64_t group = 0; group < scores_shape[1]; ++group) {
      const auto first = scores.begin() + (batch * scores_shape[1] + group) *
                                              static_cast<std::int64_t>(count);
      const std::vector<double> of_class(
          first, first + static_cast<std::int64_t>(count));
      for (const std::size_t kept : KeptBoxes(
               of_batch, of_class, FirstOr(inputs, 2, 0), FirstOr(inputs, 3, 0),
               FirstOr(inputs, 4, -std::numeric_limits<double>::infinity())))
        expected.insert({batch, group, static_cast<std::int64_t>(kept)});
    }
  }
  const std::vector<std::int64_t> indices = ElementsAsIntegers(chosen);
  std::set<Index> got;
  for (std::size_t i = 0; i + 2 < indices.size(); i += 3)
    got.insert({indices[i], indices[i + 1], indices[i + 2]});
  return Difference(expected, got, indices.size() / 3);
}

}  // namespace parity
