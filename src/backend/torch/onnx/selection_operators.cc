// Which elements are largest, not zero, unique or worth keeping.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/unique_dim.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;

// Of equal elements libtorch chooses, as the PyTorch original does.
Tensors TopK(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t k = context.opset() < 10 ? context.Integer("k")
                                              : context.Input(1)
                                                    .reshape({})
                                                    .to(ScalarType::Long)
                                                    .item<std::int64_t>();
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", -1), x.dim());
  auto [values, indices] =
      at::topk(Widened(x), k, axis, context.Integer("largest", 1) != 0,
               context.Integer("sorted", 1) != 0);
  return {values.to(x.scalar_type()), indices};
}

Tensors NonZero(const OperatorContext& context) {
  return {AsSigned(context.Input(0)).nonzero().t()};
}

// The first of equal elements, or the last.
template <bool is_largest>
Tensors ArgExtreme(const OperatorContext& context) {
  const at::Tensor x = Widened(context.Input(0));
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  const bool keep = context.Integer("keepdims", 1) != 0;
  const bool is_last = context.Integer("select_last_index", 0) != 0;
  const at::Tensor searched = is_last ? x.flip(axis) : x;
  const at::Tensor found =
      is_largest ? searched.argmax(axis, keep) : searched.argmin(axis, keep);
  if (!is_last) return {found};
  return {found.neg().add(x.size(axis) - 1)};
}

// Values, first indices, inverse and counts.
Tensors Unique(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const bool has_axis = context.HasAttribute("axis");
  const std::int64_t axis = OperatorContext::Axis(context.Integer("axis", 0),
                                                  has_axis ? input.dim() : 1);
  const at::Tensor x = has_axis ? Widened(input) : Widened(input).flatten();
  auto [values, inverse, counts] =
      has_axis ? at::unique_dim(x, axis, /*sorted=*/true,
                                /*return_inverse=*/true, /*return_counts=*/true)
               : at::_unique2(x, /*sorted=*/true, /*return_inverse=*/true,
                              /*return_counts=*/true);
  const std::int64_t total = x.size(axis);
  const at::TensorOptions longs(ScalarType::Long);
  at::Tensor first =
      at::full({counts.size(0)}, total, longs)
          .scatter_reduce(0, inverse, at::arange(total, longs), "amin");
  if (context.Integer("sorted", 1) == 0) {
    // In the order in which they occur first.
    const at::Tensor order = first.argsort();
    values = values.index_select(axis, order);
    first = first.index_select(0, order);
    counts = counts.index_select(0, order);
    inverse = order.argsort().index_select(0, inverse);
  }
  return {values.to(input.scalar_type()), first, inverse, counts};
}

// A box as its lower and upper corners.
struct Box {
  double y0;
  double x0;
  double y1;
  double x1;
};

Box MakeBox(std::span<const double, 4> numbers, bool is_centered) {
  if (is_centered) {
    const double x = numbers[0];
    const double y = numbers[1];
    const double width = numbers[2] / 2;
    const double height = numbers[3] / 2;
    return {
        .y0 = y - height, .x0 = x - width, .y1 = y + height, .x1 = x + width};
  }
  return {.y0 = std::min(numbers[0], numbers[2]),
          .x0 = std::min(numbers[1], numbers[3]),
          .y1 = std::max(numbers[0], numbers[2]),
          .x1 = std::max(numbers[1], numbers[3])};
}

double Area(const Box& box) { return (box.y1 - box.y0) * (box.x1 - box.x0); }

// Area of the intersection over that of the union.
double Overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return 0;
  const double common = height * width;
  return common / (Area(a) + Area(b) - common);
}

struct SuppressionLimits {
  std::int64_t boxes;
  double overlap;
  double score;
};

// Indices of the boxes kept, best score first; equal scores in order.
std::vector<std::int64_t> KeptBoxes(std::span<const Box> boxes,
                                    std::span<const double> scores,
                                    const SuppressionLimits& limits) {
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (scores[i] > limits.score) order.push_back(static_cast<std::int64_t>(i));
  }
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return scores[static_cast<std::size_t>(a)] >
           scores[static_cast<std::size_t>(b)];
  });
  std::vector<std::int64_t> kept;
  for (const std::int64_t candidate : order) {
    if (std::cmp_greater_equal(kept.size(), limits.boxes)) break;
    const bool is_covered = std::ranges::any_of(kept, [&](std::int64_t other) {
      return Overlap(boxes[static_cast<std::size_t>(candidate)],
                     boxes[static_cast<std::size_t>(other)]) > limits.overlap;
    });
    if (!is_covered) kept.push_back(candidate);
  }
  return kept;
}

// (batch, class, box) of every box kept.
Tensors NonMaxSuppression(const OperatorContext& context) {
  const at::Tensor boxes = context.Input(0).to(ScalarType::Double).contiguous();
  const at::Tensor scores =
      context.Input(1).to(ScalarType::Double).contiguous();
  if (boxes.dim() != 3 || scores.dim() != 3 || boxes.size(2) != 4 ||
      boxes.size(0) != scores.size(0) || boxes.size(1) != scores.size(2))
    throw OperatorError("the shapes of boxes and scores do not fit together");
  const auto number = [&](std::size_t index, double otherwise) {
    return context.HasInput(index) ? context.FloatsInput(index).at(0)
                                   : otherwise;
  };
  const SuppressionLimits limits = {
      .boxes = context.HasInput(2) ? context.IntegersInput(2).at(0) : 0,
      .overlap = number(3, 0),
      .score = number(4, -std::numeric_limits<double>::infinity())};
  const bool is_centered = context.Integer("center_point_box", 0) != 0;

  const auto box_count = static_cast<std::size_t>(boxes.size(1));
  const double* box_data = boxes.const_data_ptr<double>();
  const double* score_data = scores.const_data_ptr<double>();
  std::vector<std::int64_t> selected;
  for (std::int64_t batch = 0; batch < scores.size(0); ++batch) {
    std::vector<Box> batch_boxes;
    for (std::size_t i = 0; i < box_count; ++i, box_data += 4) {
      batch_boxes.push_back(
          MakeBox(std::span<const double, 4>(box_data, 4), is_centered));
    }
    for (std::int64_t type = 0; type < scores.size(1); ++type) {
      for (const std::int64_t box :
           KeptBoxes(batch_boxes, {score_data, box_count}, limits))
        selected.insert(selected.end(), {batch, type, box});
      score_data += box_count;
    }
  }
  const at::Tensor result =
      at::empty({static_cast<std::int64_t>(selected.size() / 3), 3},
                at::TensorOptions(ScalarType::Long));
  std::ranges::copy(selected, result.mutable_data_ptr<std::int64_t>());
  return {result};
}

}  // namespace

void AddSelectionOperators(OperatorTable& table) {
  table["TopK"] = TopK;
  table["NonZero"] = NonZero;
  table["ArgMax"] = ArgExtreme<true>;
  table["ArgMin"] = ArgExtreme<false>;
  table["Unique"] = Unique;
  table["NonMaxSuppression"] = NonMaxSuppression;
}

}  // namespace parity
