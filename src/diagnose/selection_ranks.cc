// Selections of the best elements along an axis: TopK, ArgMax, Hardmax.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <vector>

#include "diagnose/selection_kinds.h"
#include "parity/tensor.h"

namespace parity {
namespace {

// A tensor as vectors along one axis.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t length = 1;
  std::int64_t inner = 1;

  [[nodiscard]] std::int64_t count() const { return outer * inner; }
  // Index of an element of a line.
  [[nodiscard]] std::size_t At(std::int64_t line, std::int64_t element) const {
    return static_cast<std::size_t>(
        ((line / inner) * length + element) * inner + line % inner);
  }
};

// Nothing when there is no such axis.
std::optional<Lines> LinesAlong(const Shape& shape, std::int64_t axis) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return std::nullopt;
  Lines lines;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(i)];
    if (i < axis) lines.outer *= size;
    if (i == axis) lines.length = size;
    if (i > axis) lines.inner *= size;
  }
  return lines;
}

// The scores of one line, turned so that the largest is the best. NaN is above
// all, as PyTorch has it.
std::vector<double> LineScores(const std::vector<double>& scores,
                               const Lines& lines, std::int64_t line,
                               bool largest) {
  std::vector<double> turned;
  turned.reserve(static_cast<std::size_t>(lines.length));
  for (std::int64_t i = 0; i < lines.length; ++i) {
    const double score = scores[lines.At(line, i)];
    turned.push_back(largest ? score : -score);
  }
  return turned;
}

bool IsBetter(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  return a > b;
}

double Step(double a, double b) {
  return a == b ? 0 : std::abs(a - b);  // equal infinities, too
}

// Of the first (or last) of the best.
std::size_t BestOf(const std::vector<double>& scores, bool last) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < scores.size(); ++i) {
    if (IsBetter(scores[i], scores[best]) ||
        (last && !IsBetter(scores[best], scores[i])))
      best = i;
  }
  return best;
}

// Indices of the `count` best, earlier ones first among equals, the best first.
std::vector<std::size_t> BestOf(const std::vector<double>& scores,
                                std::size_t count) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(order, end, [&](std::size_t a, std::size_t b) {
    if (IsBetter(scores[a], scores[b])) return true;
    return !IsBetter(scores[b], scores[a]) && a < b;
  });
  order.erase(end, order.end());
  return order;
}

// Flips of one line of TopK.
void CheckChoice(const std::vector<double>& scores,
                 const std::vector<std::int64_t>& chosen, bool sorted,
                 Flips& flips) {
  if (chosen.empty()) return;
  const std::vector<std::size_t> expected = BestOf(scores, chosen.size());
  const double edge = scores[expected.back()];
  const std::unordered_set<std::size_t> wanted(expected.begin(),
                                               expected.end());
  std::unordered_set<std::size_t> got;
  for (const std::int64_t choice : chosen) {
    const auto index = static_cast<std::size_t>(choice);
    if (choice < 0 || index >= scores.size() || !got.insert(index).second) {
      flips.Add(std::numeric_limits<double>::infinity());
    } else if (!wanted.contains(index)) {
      flips.Add(Step(scores[index], edge));
    }
  }
  // Where the order counts, what stands at a place must score as what should.
  for (std::size_t i = 0; sorted && i < chosen.size(); ++i) {
    const auto index = static_cast<std::size_t>(chosen[i]);
    if (wanted.contains(index) && index != expected[i])
      flips.Add(Step(scores[index], scores[expected[i]]));
  }
  // What is missing must have been near the edge, too; it is counted already,
  // by what took its place.
  for (const std::size_t index : expected) {
    if (got.contains(index)) continue;
    const double step = Step(scores[index], edge);
    flips.gap = std::isnan(step) ? std::numeric_limits<double>::infinity()
                                 : std::max(flips.gap, step);
  }
}

}  // namespace

Flips CheckTopK(const Tensor& scores, const Tensor& chosen, std::int64_t axis,
                bool largest, bool sorted) {
  const std::optional<Lines> lines = LinesAlong(scores.shape(), axis);
  const std::optional<Lines> choices = LinesAlong(chosen.shape(), axis);
  if (!lines.has_value() || !choices.has_value() ||
      lines->outer != choices->outer || lines->inner != choices->inner ||
      lines->length < choices->length)
    return AllWrong(chosen.element_count());
  const std::vector<double> values = ElementsAsDoubles(scores);
  const std::vector<std::int64_t> indices = ElementsAsIntegers(chosen);
  if (static_cast<std::int64_t>(indices.size()) != chosen.element_count())
    return AllWrong(chosen.element_count());
  Flips flips;
  for (std::int64_t line = 0; line < lines->count(); ++line) {
    std::vector<std::int64_t> of_line;
    of_line.reserve(static_cast<std::size_t>(choices->length));
    for (std::int64_t i = 0; i < choices->length; ++i)
      of_line.push_back(indices[choices->At(line, i)]);
    CheckChoice(LineScores(values, *lines, line, largest), of_line, sorted,
                flips);
  }
  return flips;
}

Flips CheckArgMax(const Tensor& scores, const Tensor& chosen, std::int64_t axis,
                  bool largest, bool last) {
  const std::optional<Lines> lines = LinesAlong(scores.shape(), axis);
  const std::vector<std::int64_t> indices = ElementsAsIntegers(chosen);
  if (!lines.has_value() ||
      static_cast<std::int64_t>(indices.size()) != lines->count())
    return AllWrong(chosen.element_count());
  const std::vector<double> values = ElementsAsDoubles(scores);
  Flips flips;
  for (std::int64_t line = 0; line < lines->count(); ++line) {
    const std::vector<double> of_line =
        LineScores(values, *lines, line, largest);
    const std::int64_t index = indices[static_cast<std::size_t>(line)];
    if (index < 0 || index >= lines->length) {
      flips.Add(std::numeric_limits<double>::infinity());
      continue;
    }
    const std::size_t best = BestOf(of_line, last);
    const auto choice = static_cast<std::size_t>(index);
    if (choice != best) flips.Add(Step(of_line[choice], of_line[best]));
  }
  return flips;
}

Flips CheckHardmax(const Tensor& scores, const Tensor& chosen,
                   std::int64_t axis) {
  const std::optional<Lines> lines = LinesAlong(scores.shape(), axis);
  if (!lines.has_value() || scores.shape() != chosen.shape())
    return AllWrong(chosen.element_count());
  const std::vector<double> values = ElementsAsDoubles(scores);
  const std::vector<double> ones = ElementsAsDoubles(chosen);
  if (values.size() != ones.size()) return AllWrong(chosen.element_count());
  Flips flips;
  for (std::int64_t line = 0; line < lines->count() && lines->length > 0;
       ++line) {
    const std::vector<double> of_line = LineScores(values, *lines, line, true);
    const std::vector<double> marks = LineScores(ones, *lines, line, true);
    const std::size_t choice = BestOf(marks, false);
    const bool is_one_hot = marks[choice] == 1 &&
                            std::ranges::count(marks, 0.0) == lines->length - 1;
    const std::size_t best = BestOf(of_line, false);
    if (!is_one_hot) {
      flips.Add(std::numeric_limits<double>::infinity());
    } else if (choice != best) {
      flips.Add(Step(of_line[choice], of_line[best]));
    }
  }
  return flips;
}

}  // namespace parity
