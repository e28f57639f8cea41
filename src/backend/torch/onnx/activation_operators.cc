// Activation functions.
#include <ATen/core/Tensor.h>
#include <ATen/ops/celu.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;

Tensors Relu(const OperatorContext& context) {
  return {context.Input(0).clamp_min(0)};
}

Tensors LeakyRelu(const OperatorContext& context) {
  return {at::leaky_relu(context.Input(0), context.Float("alpha", 0.01))};
}

Tensors PRelu(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor x = Widened(input);
  return {at::where(x.lt(0), x.mul(Widened(context.Input(1))), x)
              .to(input.scalar_type())};
}

Tensors Elu(const OperatorContext& context) {
  return {at::elu(context.Input(0), context.Float("alpha", 1))};
}

// The defaults are the operator's own.
Tensors Selu(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const double alpha = context.Float("alpha", 1.67326319217681884765625);
  const double gamma = context.Float("gamma", 1.05070102214813232421875);
  return {at::where(x.gt(0), x, x.expm1().mul(alpha)).mul(gamma)};
}

Tensors Celu(const OperatorContext& context) {
  return {at::celu(context.Input(0), context.Float("alpha", 1))};
}

// log(1 + exp(x)) without libtorch's threshold, from which on it gives x: that
// is exact in float32, but not in float64.
at::Tensor SoftplusOf(const at::Tensor& x) {
  return x.clamp_min(0).add(x.abs().neg().exp().log1p());
}

Tensors Softplus(const OperatorContext& context) {
  return {SoftplusOf(context.Input(0))};
}

Tensors Softsign(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {x.div(x.abs().add(1))};
}

Tensors HardSigmoid(const OperatorContext& context) {
  return {context.Input(0)
              .mul(context.Float("alpha", 0.2))
              .add(context.Float("beta", 0.5))
              .clamp(0, 1)};
}

Tensors HardSwish(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {x.mul(x.div(6).add(0.5).clamp(0, 1))};
}

Tensors ThresholdedRelu(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {at::where(x.gt(context.Float("alpha", 1)), x, at::zeros_like(x))};
}

Tensors Gelu(const OperatorContext& context) {
  return {at::gelu(context.Input(0), context.String("approximate", "none"))};
}

Tensors Mish(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {x.mul(SoftplusOf(x).tanh())};
}

Tensors Swish(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {x.mul(x.mul(context.Float("alpha", 1)).sigmoid())};
}

Tensors Shrink(const OperatorContext& context) {
  const at::Tensor& input = context.Input(0);
  const at::Tensor x = c10::isFloatingType(input.scalar_type())
                           ? input
                           : Widened(input).to(ScalarType::Double);
  const double bias = context.Float("bias", 0);
  const double lambda = context.Float("lambd", 0.5);
  const at::Tensor above =
      at::where(x.gt(lambda), x.sub(bias), at::zeros_like(x));
  return {at::where(x.lt(-lambda), x.add(bias), above).to(input.scalar_type())};
}

// Along an axis; before opset 13 along all axes from it on.
template <at::Tensor (*function)(const at::Tensor&, std::int64_t)>
Tensors AlongAxis(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  if (context.opset() >= 13) {
    return {function(x, context.Axis(context.Integer("axis", -1), x.dim()))};
  }
  const std::int64_t axis = context.Axis(context.Integer("axis", 1), x.dim());
  const at::IntArrayRef sizes = x.sizes();
  const std::int64_t rows =
      std::accumulate(sizes.begin(), sizes.begin() + axis, std::int64_t{1},
                      std::multiplies<>());
  const std::int64_t columns = std::accumulate(
      sizes.begin() + axis, sizes.end(), std::int64_t{1}, std::multiplies<>());
  return {function(x.reshape({rows, columns}), 1).view(sizes)};
}

at::Tensor SoftmaxOf(const at::Tensor& x, std::int64_t axis) {
  return at::softmax(x, axis);
}

at::Tensor LogSoftmaxOf(const at::Tensor& x, std::int64_t axis) {
  return at::log_softmax(x, axis);
}

// One at the first of the largest elements.
at::Tensor HardmaxOf(const at::Tensor& x, std::int64_t axis) {
  const at::Tensor largest = x.argmax(axis, /*keepdim=*/true);
  return at::zeros_like(x).scatter(axis, largest, 1);
}

}  // namespace

void AddActivationOperators(OperatorTable& table) {
  table["Relu"] = Relu;
  table["LeakyRelu"] = LeakyRelu;
  table["PRelu"] = PRelu;
  table["Elu"] = Elu;
  table["Selu"] = Selu;
  table["Celu"] = Celu;
  table["Softplus"] = Softplus;
  table["Softsign"] = Softsign;
  table["HardSigmoid"] = HardSigmoid;
  table["HardSwish"] = HardSwish;
  table["ThresholdedRelu"] = ThresholdedRelu;
  table["Gelu"] = Gelu;
  table["Mish"] = Mish;
  table["Swish"] = Swish;
  table["Shrink"] = Shrink;
  table["Softmax"] = AlongAxis<SoftmaxOf>;
  table["LogSoftmax"] = AlongAxis<LogSoftmaxOf>;
  table["Hardmax"] = AlongAxis<HardmaxOf>;
}

}  // namespace parity
