// MatMul, Gemm, Einsum, Det.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/det.h>
#include <ATen/ops/einsum.h>
#include <ATen/ops/matmul.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

// Products modulo 2^n are the same for signed and unsigned numbers.
at::Tensor MultiplyMatrices(const at::Tensor& a, const at::Tensor& b) {
  return at::matmul(Widened(a), Widened(b)).to(a.scalar_type());
}

std::vector<at::Tensor> MatMul(const OperatorContext& context) {
  return {MultiplyMatrices(context.Input(0), context.Input(1))};
}

// `value` times a factor; integers times a whole one stay exact.
at::Tensor Scaled(const at::Tensor& value, double factor) {
  if (factor == 1) return value;
  if (c10::isFloatingType(value.scalar_type())) return value * factor;
  return (value.to(at::kDouble) * factor).to(value.scalar_type());
}

std::vector<at::Tensor> Gemm(const OperatorContext& context) {
  at::Tensor a = context.Input(0);
  at::Tensor b = context.Input(1);
  if (a.dim() != 2 || b.dim() != 2)
    throw OperatorError("Gemm multiplies matrices");
  if (context.Integer("transA", 0) != 0) a = a.t();
  if (context.Integer("transB", 0) != 0) b = b.t();
  const at::Tensor product =
      Scaled(Widened(MultiplyMatrices(a, b)), context.Float("alpha", 1));
  if (!context.HasInput(2)) return {product.to(a.scalar_type())};
  const at::Tensor c =
      Scaled(Widened(context.Input(2)), context.Float("beta", 1));
  return {(product + c.expand_as(product)).to(a.scalar_type())};
}

std::vector<at::Tensor> Einsum(const OperatorContext& context) {
  std::vector<at::Tensor> operands;
  operands.reserve(context.input_count());
  for (std::size_t i = 0; i < context.input_count(); ++i)
    operands.push_back(Widened(context.Input(i)));
  return {at::einsum(context.String("equation", ""), operands)
              .to(context.Input(0).scalar_type())};
}

std::vector<at::Tensor> Det(const OperatorContext& context) {
  return {at::det(context.Input(0))};
}

}  // namespace

void AddMatrixOperators(OperatorTable& table) {
  table["MatMul"] = MatMul;
  table["Gemm"] = Gemm;
  table["Einsum"] = Einsum;
  table["Det"] = Det;
}

}  // namespace parity
