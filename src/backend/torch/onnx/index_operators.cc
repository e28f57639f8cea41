// Elements taken from places, and put there.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;
using Sizes = std::vector<std::int64_t>;

std::int64_t Product(at::IntArrayRef sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1},
                         std::multiplies<>());
}

// int64 indices 0…size-1 from indices counted from either end.
at::Tensor Wrapped(const at::Tensor& indices, std::int64_t size) {
  const at::Tensor wide = indices.to(ScalarType::Long);
  return at::where(wide.lt(0), wide.add(size), wide);
}

Tensors Gather(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const at::Tensor& indices = context.Input(1);
  if (x.dim() == 0) throw OperatorError("the input is a scalar");
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  Sizes shape = x.sizes().vec();
  const auto place = shape.erase(shape.begin() + axis);
  shape.insert(place, indices.sizes().begin(), indices.sizes().end());
  const at::Tensor taken =
      AsSigned(x).index_select(axis, Wrapped(indices, x.size(axis)).flatten());
  return {FromSigned(taken.reshape(shape), x.scalar_type())};
}

Tensors GatherElements(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  const at::Tensor indices = Wrapped(context.Input(1), x.size(axis));
  return {FromSigned(AsSigned(x).gather(axis, indices), x.scalar_type())};
}

// The tuples of `indices` (…, k) into the `axes` sizes, as indices into those
// axes flattened.
at::Tensor Linear(const at::Tensor& indices, at::IntArrayRef axes) {
  at::Tensor linear = at::zeros(
      indices.sizes().slice(0, static_cast<std::size_t>(indices.dim() - 1)),
      at::TensorOptions(ScalarType::Long));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const at::Tensor index =
        Wrapped(indices.select(-1, static_cast<std::int64_t>(i)), axes[i]);
    if (index.lt(0).logical_or(index.ge(axes[i])).any().item<bool>()) {
      throw OperatorError(
          std::format("an index lies outside an axis of size {}", axes[i]));
    }
    linear = linear.mul(axes[i]).add(index);
  }
  return linear;
}

// How many axes the last axis of `indices` indexes; at most `available`.
std::size_t TupleSize(const at::Tensor& indices, std::int64_t available) {
  if (indices.dim() == 0) throw OperatorError("the indices are a scalar");
  const std::int64_t size = indices.size(-1);
  if (size > available) {
    throw OperatorError(
        std::format("tuples of {} indices for {} axes", size, available));
  }
  return static_cast<std::size_t>(size);
}

Tensors GatherND(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const at::Tensor& indices = context.Input(1);
  const std::int64_t batch_dims = context.Integer("batch_dims", 0);
  if (batch_dims < 0 || batch_dims >= indices.dim() || batch_dims > x.dim())
    throw OperatorError(std::format("batch_dims is {}", batch_dims));
  const std::size_t tuple = TupleSize(indices, x.dim() - batch_dims);
  const auto batch_axes = static_cast<std::size_t>(batch_dims);
  const at::IntArrayRef sizes = x.sizes();
  const at::IntArrayRef axes = sizes.slice(batch_axes, tuple);
  const at::IntArrayRef slice = sizes.slice(batch_axes + tuple);

  const std::int64_t batches = Product(sizes.slice(0, batch_axes));
  at::Tensor linear = Linear(indices, axes);
  Sizes shape = linear.sizes().vec();
  shape.insert(shape.end(), slice.begin(), slice.end());
  // Every batch has its own part of the flattened axes.
  const at::Tensor start =
      at::arange(batches, at::TensorOptions(ScalarType::Long))
          .mul(Product(axes))
          .unsqueeze(1);
  const std::int64_t each = batches == 0 ? 0 : linear.numel() / batches;
  linear = linear.reshape({batches, each}).add(start).flatten();
  const at::Tensor flat =
      AsSigned(x).reshape({batches * Product(axes), Product(slice)});
  return {
      FromSigned(flat.index_select(0, linear).reshape(shape), x.scalar_type())};
}

// libtorch's name for how values that meet are combined; empty: replaced.
std::string Combination(const OperatorContext& context) {
  const std::string reduction = context.String("reduction", "none");
  if (reduction == "none") return "";
  if (reduction == "add") return "sum";
  if (reduction == "mul") return "prod";
  if (reduction == "max") return "amax";
  if (reduction == "min") return "amin";
  throw OperatorError(std::format("reduction '{}' does not exist", reduction));
}

// A copy of `x` with `updates` put in along `axis`.
at::Tensor Scattered(const at::Tensor& x, std::int64_t axis,
                     const at::Tensor& indices, const at::Tensor& updates,
                     const std::string& combination) {
  const ScalarType type = x.scalar_type();
  if (combination.empty()) {
    return FromSigned(AsSigned(x).scatter(axis, indices, AsSigned(updates)),
                      type);
  }
  return Widened(x)
      .scatter_reduce(axis, indices, Widened(updates), combination,
                      /*include_self=*/true)
      .to(type);
}

Tensors ScatterElements(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  return {Scattered(x, axis, Wrapped(context.Input(1), x.size(axis)),
                    context.Input(2), Combination(context))};
}

Tensors ScatterND(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const at::Tensor& indices = context.Input(1);
  const std::size_t tuple = TupleSize(indices, x.dim());
  const at::IntArrayRef axes = x.sizes().slice(0, tuple);
  const std::int64_t slice = Product(x.sizes().slice(tuple));
  const at::Tensor linear = Linear(indices, axes).flatten();
  const at::Tensor updates = context.Input(2).reshape({linear.size(0), slice});
  const at::Tensor flat = x.reshape({Product(axes), slice});
  const std::string combination = Combination(context);
  if (combination.empty()) {
    return {FromSigned(AsSigned(flat).index_copy(0, linear, AsSigned(updates)),
                       x.scalar_type())
                .view(x.sizes())};
  }
  return {Scattered(flat, 0, linear.unsqueeze(1).expand(updates.sizes()),
                    updates, combination)
              .view(x.sizes())};
}

// Indices outside -depth…depth-1 give no hot element.
Tensors OneHot(const OperatorContext& context) {
  const std::int64_t depth =
      context.Input(1).reshape({}).to(ScalarType::Long).item<std::int64_t>();
  const at::Tensor& input = context.Input(0);
  const at::Tensor values = AsSigned(context.Input(2));
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", -1), input.dim() + 1);
  if (depth < 0) throw OperatorError("depth must not be negative");
  const at::Tensor places =
      at::arange(depth, at::TensorOptions(ScalarType::Long));
  const at::Tensor is_hot =
      Wrapped(input, depth).unsqueeze(-1).eq(places).movedim(-1, axis);
  return {
      FromSigned(at::where(is_hot, values.select(0, 1), values.select(0, 0)),
                 context.Input(2).scalar_type())};
}

// Without an axis from the flattened input.
Tensors Compress(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const bool has_axis = context.HasAttribute("axis");
  const at::Tensor x = has_axis ? AsSigned(input) : AsSigned(input).flatten();
  const std::int64_t axis =
      OperatorContext::Axis(context.Integer("axis", 0), x.dim());
  const at::Tensor chosen = context.Input(1).flatten().nonzero().flatten();
  return {FromSigned(x.index_select(axis, chosen), input.scalar_type())};
}

}  // namespace

void AddIndexOperators(OperatorTable& table) {
  table["Gather"] = Gather;
  table["GatherElements"] = GatherElements;
  table["GatherND"] = GatherND;
  table["Scatter"] = ScatterElements;
  table["ScatterElements"] = ScatterElements;
  table["ScatterND"] = ScatterND;
  table["OneHot"] = OneHot;
  table["Compress"] = Compress;
}

}  // namespace parity
