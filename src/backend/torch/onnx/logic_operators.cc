// Booleans and comparisons.
#include <ATen/core/Tensor.h>
#include <ATen/ops/where.h>

#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using Tensors = std::vector<at::Tensor>;
using Method = at::Tensor (at::Tensor::*)(const at::Tensor&) const;

template <Method method>
Tensors Compare(const OperatorContext& context) {
  return {(Widened(context.Input(0)).*method)(Widened(context.Input(1)))};
}

// Equal bytes are equal integers, also those that cannot be widened.
Tensors Equal(const OperatorContext& context) {
  return {AsSigned(context.Input(0)).eq(AsSigned(context.Input(1)))};
}

Tensors Not(const OperatorContext& context) {
  return {context.Input(0).logical_not()};
}

Tensors Where(const OperatorContext& context) {
  const at::Tensor& x = context.Input(1);
  return {FromSigned(
      at::where(context.Input(0), AsSigned(x), AsSigned(context.Input(2))),
      x.scalar_type())};
}

}  // namespace

void AddLogicOperators(OperatorTable& table) {
  table["And"] = Compare<&at::Tensor::logical_and>;
  table["Or"] = Compare<&at::Tensor::logical_or>;
  table["Xor"] = Compare<&at::Tensor::logical_xor>;
  table["Not"] = Not;
  table["Equal"] = Equal;
  table["Greater"] = Compare<&at::Tensor::gt>;
  table["GreaterOrEqual"] = Compare<&at::Tensor::ge>;
  table["Less"] = Compare<&at::Tensor::lt>;
  table["LessOrEqual"] = Compare<&at::Tensor::le>;
  table["Where"] = Where;
}

}  // namespace parity
