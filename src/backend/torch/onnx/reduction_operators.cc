// Sums, extremes and norms along axes.
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;
using Axes = std::vector<std::int64_t>;

// Sorted, each once; nothing when the tensor is to stay as it is.
std::optional<Axes> ReducedAxes(const OperatorContext& context,
                                std::int64_t rank) {
  Axes axes =
      context.HasInput(1) ? context.IntegersInput(1) : context.Integers("axes");
  if (axes.empty() && context.Integer("noop_with_empty_axes", 0) != 0)
    return std::nullopt;
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t& axis : axes) axis = OperatorContext::Axis(axis, rank);
  std::ranges::sort(axes);
  const auto repeated = std::ranges::unique(axes);
  axes.erase(repeated.begin(), repeated.end());
  return axes;
}

// Reduces `x`, of rank 1 and more, along `axes`, keeping them with size 1.
using Reduction = at::Tensor (*)(const at::Tensor& x, const Axes& axes);

template <Reduction reduction>
Tensors Reduce(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  std::optional<Axes> axes = ReducedAxes(context, input.dim());
  if (!axes) return {input};
  at::Tensor x = Widened(input);
  const bool is_scalar = x.dim() == 0;
  if (is_scalar) {
    x = x.unsqueeze(0);
    axes = {0};
  }
  at::Tensor reduced = reduction(x, *axes);
  if (is_scalar || context.Integer("keepdims", 1) == 0)
    reduced = reduced.squeeze(*axes);
  return {reduced.to(input.scalar_type())};
}

at::Tensor Sum(const at::Tensor& x, const Axes& axes) {
  return x.sum(axes, /*keepdim=*/true, x.scalar_type());
}

// Of integers with their fraction: what follows takes logarithms or roots.
at::Tensor Floating(const at::Tensor& x) {
  return c10::isFloatingType(x.scalar_type()) ? x : x.to(ScalarType::Double);
}

at::Tensor Mean(const at::Tensor& x, const Axes& axes) {
  return Floating(x).mean(axes, /*keepdim=*/true);
}

at::Tensor Product(const at::Tensor& x, const Axes& axes) {
  at::Tensor product = x;
  for (const std::int64_t axis : axes)
    product = product.prod(axis, /*keepdim=*/true, x.scalar_type());
  return product;
}

// The largest or smallest value of a type.
at::Scalar Extreme(ScalarType type, bool is_largest) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (c10::isFloatingType(type)) return is_largest ? kInfinity : -kInfinity;
  const auto of = [is_largest]<class T>(T) -> at::Scalar {
    return static_cast<std::int64_t>(is_largest
                                         ? std::numeric_limits<T>::max()
                                         : std::numeric_limits<T>::lowest());
  };
  switch (type) {
    case ScalarType::Bool:
      return is_largest;
    case ScalarType::Byte:
      return of(std::uint8_t{});
    case ScalarType::Char:
      return of(std::int8_t{});
    case ScalarType::Short:
      return of(std::int16_t{});
    case ScalarType::Int:
      return of(std::int32_t{});
    default:
      return of(std::int64_t{});
  }
}

// The identity of the reduction where nothing is reduced, which libtorch
// refuses.
at::Tensor EmptyExtreme(const at::Tensor& x, const Axes& axes,
                        bool is_largest) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  for (const std::int64_t axis : axes)
    shape[static_cast<std::size_t>(axis)] = 1;
  return at::full(shape, Extreme(x.scalar_type(), is_largest), x.options());
}

at::Tensor Largest(const at::Tensor& x, const Axes& axes) {
  return x.numel() == 0 ? EmptyExtreme(x, axes, /*is_largest=*/false)
                        : x.amax(axes, /*keepdim=*/true);
}

at::Tensor Smallest(const at::Tensor& x, const Axes& axes) {
  return x.numel() == 0 ? EmptyExtreme(x, axes, /*is_largest=*/true)
                        : x.amin(axes, /*keepdim=*/true);
}

at::Tensor AbsoluteSum(const at::Tensor& x, const Axes& axes) {
  return Sum(x.abs(), axes);
}

at::Tensor SquareSum(const at::Tensor& x, const Axes& axes) {
  return Sum(x.mul(x), axes);
}

at::Tensor EuclideanNorm(const at::Tensor& x, const Axes& axes) {
  return SquareSum(Floating(x), axes).sqrt();
}

at::Tensor LogSum(const at::Tensor& x, const Axes& axes) {
  return Sum(Floating(x), axes).log();
}

at::Tensor LogSumExp(const at::Tensor& x, const Axes& axes) {
  return at::logsumexp(Floating(x), axes, /*keepdim=*/true);
}

Tensors CumSum(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor x = Widened(input);
  const std::int64_t axis = OperatorContext::Axis(
      context.Input(1).to(ScalarType::Long).item<std::int64_t>(), x.dim());
  const bool is_reverse = context.Integer("reverse", 0) != 0;
  at::Tensor sums = is_reverse ? x.flip(axis) : x;
  sums = sums.cumsum(axis, x.scalar_type());
  if (context.Integer("exclusive", 0) != 0 && sums.dim() > 0 &&
      sums.size(axis) > 0) {
    const at::Tensor zero = at::zeros_like(sums.narrow(axis, 0, 1));
    sums = at::cat({zero, sums.narrow(axis, 0, sums.size(axis) - 1)}, axis);
  }
  if (is_reverse) sums = sums.flip(axis);
  return {sums.to(input.scalar_type())};
}

}  // namespace

void AddReductionOperators(OperatorTable& table) {
  table["ReduceSum"] = Reduce<Sum>;
  table["ReduceMean"] = Reduce<Mean>;
  table["ReduceProd"] = Reduce<Product>;
  table["ReduceMax"] = Reduce<Largest>;
  table["ReduceMin"] = Reduce<Smallest>;
  table["ReduceL1"] = Reduce<AbsoluteSum>;
  table["ReduceL2"] = Reduce<EuclideanNorm>;
  table["ReduceSumSquare"] = Reduce<SquareSum>;
  table["ReduceLogSum"] = Reduce<LogSum>;
  table["ReduceLogSumExp"] = Reduce<LogSumExp>;
  table["CumSum"] = CumSum;
}

}  // namespace parity
