// Shapes, and elements moved around without looking at them.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<std::int64_t>;

// An attribute that became an input in a later opset.
Sizes AttributeOrInput(const OperatorContext& context, const char* attribute,
                       std::size_t input) {
  return context.HasInput(input) ? context.IntegersInput(input)
                                 : context.Integers(attribute);
}

Tensors ShapeOf(const OperatorContext& context) {
  const at::IntArrayRef sizes = context.Input(0).sizes();
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const auto limit = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t axis = context.Integer(name, otherwise);
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = limit("start", 0);
  const std::int64_t end = std::max(start, limit("end", rank));
  return {at::tensor(sizes.slice(static_cast<std::size_t>(start),
                                 static_cast<std::size_t>(end - start)),
                     ScalarType::Long)};
}

Tensors Size(const OperatorContext& context) {
  return {at::full({}, context.Input(0).numel(),
                   at::TensorOptions(ScalarType::Long))};
}

// Without elements anything could stand for -1 beside an axis of size 0, and
// libtorch refuses to choose: the axes that are not 0 decide.
void InferWithoutElements(at::IntArrayRef sizes, Sizes& shape) {
  const auto inferred = std::ranges::find(shape, -1);
  if (inferred == shape.end() || !std::ranges::contains(shape, 0)) return;
  std::int64_t left = 1;
  for (const std::int64_t size : sizes) left *= std::max<std::int64_t>(size, 1);
  for (const std::int64_t size : shape) left /= std::max<std::int64_t>(size, 1);
  *inferred = left;
}

// 0 keeps the size of the input's axis, unless allowzero says that it is one.
Tensors Reshape(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  Sizes shape = AttributeOrInput(context, "shape", 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 0 || context.Integer("allowzero", 0) != 0) continue;
    if (std::cmp_greater_equal(i, x.dim())) {
      throw OperatorError(
          std::format("the shape's element {} is 0, but the input has rank {}",
                      i, x.dim()));
    }
    shape[i] = x.size(static_cast<std::int64_t>(i));
  }
  InferWithoutElements(x.sizes(), shape);
  return {x.reshape(shape)};
}

Tensors Flatten(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  std::int64_t axis = context.Integer("axis", 1);
  if (axis < 0) axis += x.dim();
  if (axis < 0 || axis > x.dim()) {
    throw OperatorError(
        std::format("axis {} does not exist in rank {}", axis, x.dim()));
  }
  const auto product = [](at::IntArrayRef sizes) {
    return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                           std::multiplies<>());
  };
  const at::IntArrayRef sizes = x.sizes();
  const auto split = static_cast<std::size_t>(axis);
  return {
      x.reshape({product(sizes.slice(0, split)), product(sizes.slice(split))})};
}

Tensors Squeeze(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  Sizes axes = AttributeOrInput(context, "axes", 1);
  if (axes.empty() && !context.HasInput(1)) return {x.squeeze()};
  for (std::int64_t& axis : axes) {
    axis = OperatorContext::Axis(axis, x.dim());
    if (x.dim() > 0 && x.size(axis) != 1) {
      throw OperatorError(
          std::format("axis {} has size {}, not 1", axis, x.size(axis)));
    }
  }
  return {x.squeeze(axes)};
}

// The axes are those of the result.
Tensors Unsqueeze(const OperatorContext& context) {
  at::Tensor x = context.Input(0);
  Sizes axes = AttributeOrInput(context, "axes", 1);
  const std::int64_t rank = x.dim() + static_cast<std::int64_t>(axes.size());
  for (std::int64_t& axis : axes) axis = OperatorContext::Axis(axis, rank);
  std::ranges::sort(axes);
  for (const std::int64_t axis : axes) x = x.unsqueeze(axis);
  return {x};
}

Tensors Transpose(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  Sizes order = context.Integers("perm");
  if (order.empty()) {
    order.resize(static_cast<std::size_t>(x.dim()));
    std::iota(order.rbegin(), order.rend(), 0);
  }
  return {x.permute(order)};
}

Tensors Concat(const OperatorContext& context) {
  Tensors parts;
  for (std::size_t i = 0; i < context.input_count(); ++i)
    parts.push_back(AsSigned(context.Input(i)));
  const at::Tensor& first = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis"), first.dim());
  return {FromSigned(at::cat(parts, axis), first.scalar_type())};
}

// The sizes are given, or equal with a smaller last one.
Tensors Split(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  Sizes sizes = AttributeOrInput(context, "split", 1);
  if (sizes.empty()) {
    const std::int64_t count = context.Integer(
        "num_outputs", static_cast<std::int64_t>(context.output_count()));
    if (count <= 0) throw OperatorError("num_outputs must be positive");
    std::int64_t left = x.size(axis);
    const std::int64_t size = (left + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) {
      sizes.push_back(std::min(size, left));
      left -= sizes.back();
    }
  }
  return x.split_with_sizes(sizes, axis);
}

// Elements start, start + step, … before `end`, as NumPy clamps them.
at::Tensor SliceAxis(const at::Tensor& x, std::int64_t axis, std::int64_t start,
                     std::int64_t end, std::int64_t step) {
  const std::int64_t size = x.size(axis);
  if (step == 0) throw OperatorError("a step is 0");
  const auto clamped = [&](std::int64_t index) {
    if (index < 0) index = index < -size ? -1 : index + size;
    return step > 0 ? std::clamp<std::int64_t>(index, 0, size)
                    : std::clamp<std::int64_t>(index, -1, size - 1);
  };
  start = clamped(start);
  end = clamped(end);
  // A step beyond the axis takes one element, like one of its size; larger ones
  // overflow.
  const std::int64_t most = std::max<std::int64_t>(size, 1);
  if (step > 0) {
    return x.slice(axis, start, std::max(start, end), std::min(step, most));
  }
  const std::int64_t stride = -std::max(step, -most);
  const std::int64_t count =
      end < start ? (start - end + stride - 1) / stride : 0;
  if (count == 0) return x.narrow(axis, 0, 0);
  const std::int64_t last = start - (count - 1) * stride;
  return x.slice(axis, last, start + 1, stride).flip(axis);
}

// Before opset 10 the limits are attributes.
Tensors Slice(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const Sizes starts = AttributeOrInput(context, "starts", 1);
  const Sizes ends = AttributeOrInput(context, "ends", 2);
  Sizes axes = AttributeOrInput(context, "axes", 3);
  Sizes steps =
      context.HasInput(4) ? context.IntegersInput(4) : Sizes(starts.size(), 1);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size())
    throw OperatorError("starts, ends, axes and steps differ in length");
  at::Tensor x = AsSigned(input);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    x = SliceAxis(x, OperatorContext::Axis(axes[i], x.dim()), starts[i],
                  ends[i], steps[i]);
  }
  return {FromSigned(x, input.scalar_type())};
}

// Of two shapes, each other's axes of size 1 stretched.
Sizes Broadcast(at::IntArrayRef a, at::IntArrayRef b) {
  Sizes shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t left = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t right = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (left != right && left != 1 && right != 1)
      throw OperatorError(
          std::format("sizes {} and {} do not fit", left, right));
    shape[shape.size() - 1 - i] = left == 1 ? right : left;
  }
  return shape;
}

Tensors Expand(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {x.expand(Broadcast(x.sizes(), context.IntegersInput(1)))};
}

Tensors Tile(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {FromSigned(AsSigned(x).repeat(context.IntegersInput(1)),
                     x.scalar_type())};
}

void CheckImage(const at::Tensor& x, std::int64_t block) {
  if (x.dim() != 4)
    throw OperatorError(std::format("the input has rank {}, not 4", x.dim()));
  constexpr std::int64_t kLargest = 1 << 15;  // its square has no overflow
  if (block <= 0 || block > kLargest)
    throw OperatorError(std::format("blocksize is {}", block));
}

// DCR: channels are (block row, block column, depth); CRD: depth comes first.
Tensors DepthToSpace(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t b = context.Integer("blocksize");
  CheckImage(x, b);
  const std::int64_t n = x.size(0);
  const std::int64_t depth = x.size(1) / (b * b);
  const std::int64_t h = x.size(2);
  const std::int64_t w = x.size(3);
  const at::Tensor blocks =
      context.String("mode", "DCR") == "CRD"
          ? x.reshape({n, depth, b, b, h, w}).permute({0, 1, 4, 2, 5, 3})
          : x.reshape({n, b, b, depth, h, w}).permute({0, 3, 4, 1, 5, 2});
  return {blocks.reshape({n, depth, h * b, w * b})};
}

Tensors SpaceToDepth(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t b = context.Integer("blocksize");
  CheckImage(x, b);
  const std::int64_t n = x.size(0);
  const std::int64_t c = x.size(1);
  const std::int64_t h = x.size(2) / b;
  const std::int64_t w = x.size(3) / b;
  return {x.reshape({n, c, h, b, w, b})
              .permute({0, 3, 5, 1, 2, 4})
              .reshape({n, c * b * b, h, w})};
}

Tensors Trilu(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t k =
      context.HasInput(1)
          ? context.Input(1).to(ScalarType::Long).item<std::int64_t>()
          : 0;
  const at::Tensor part = context.Integer("upper", 1) != 0
                              ? AsSigned(x).triu(k)
                              : AsSigned(x).tril(k);
  return {FromSigned(part, x.scalar_type())};
}

// The first elements along the time axis, as many as each sequence is long,
// backwards.
Tensors ReverseSequence(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  if (input.dim() < 2) throw OperatorError("the input has no two axes");
  const std::int64_t batch_axis =
      OperatorContext::Axis(context.Integer("batch_axis", 1), input.dim());
  const std::int64_t time_axis =
      OperatorContext::Axis(context.Integer("time_axis", 0), input.dim());
  const at::Tensor x = AsSigned(input).movedim({time_axis, batch_axis}, {0, 1});
  const at::Tensor lengths = context.Input(1).to(ScalarType::Long).unsqueeze(0);
  const at::Tensor time =
      at::arange(x.size(0), at::TensorOptions(ScalarType::Long)).unsqueeze(1);
  at::Tensor index =
      at::where(time.lt(lengths), lengths.sub(1).sub(time), time);
  while (index.dim() < x.dim()) index = index.unsqueeze(-1);
  return {FromSigned(x.gather(0, index.expand(x.sizes()))
                         .movedim({0, 1}, {time_axis, batch_axis}),
                     input.scalar_type())};
}

}  // namespace

void AddShapeOperators(OperatorTable& table) {
  table["Shape"] = ShapeOf;
  table["Size"] = Size;
  table["Reshape"] = Reshape;
  table["Flatten"] = Flatten;
  table["Squeeze"] = Squeeze;
  table["Unsqueeze"] = Unsqueeze;
  table["Transpose"] = Transpose;
  table["Concat"] = Concat;
  table["Split"] = Split;
  table["Slice"] = Slice;
  table["Expand"] = Expand;
  table["Tile"] = Tile;
  table["DepthToSpace"] = DepthToSpace;
  table["SpaceToDepth"] = SpaceToDepth;
  table["Trilu"] = Trilu;
  table["ReverseSequence"] = ReverseSequence;
}

}  // namespace parity
