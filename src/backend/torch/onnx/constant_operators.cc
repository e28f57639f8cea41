// Values made of attributes and sizes.
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;

constexpr std::int64_t kOnnxFloat = 1;  // TensorProto.FLOAT

Tensors Constant(const OperatorContext& context) {
  if (context.HasAttribute("value")) return {context.TensorAttribute("value")};
  const auto floats = at::TensorOptions(context.HeldType(kOnnxFloat));
  const auto longs = at::TensorOptions(ScalarType::Long);
  if (context.HasAttribute("value_float"))
    return {at::full({}, context.Float("value_float", 0), floats)};
  if (context.HasAttribute("value_floats"))
    return {at::tensor(context.Floats("value_floats"), floats)};
  if (context.HasAttribute("value_int"))
    return {at::full({}, context.Integer("value_int"), longs)};
  if (context.HasAttribute("value_ints"))
    return {at::tensor(context.Integers("value_ints"), longs)};
  throw OperatorError("it has no value that can be evaluated");
}

Tensors ConstantOfShape(const OperatorContext& context) {
  const at::Tensor value =
      context.HasAttribute("value")
          ? context.TensorAttribute("value").reshape({})
          : at::full({}, 0, at::TensorOptions(context.HeldType(kOnnxFloat)));
  return {
      FromSigned(AsSigned(value).expand(context.IntegersInput(0)).contiguous(),
                 value.scalar_type())};
}

// start, start + delta, … before limit.
Tensors Range(const OperatorContext& context) {
  const at::Tensor& first = context.Input(0);
  const auto options = at::TensorOptions(ScalarType::Long);
  if (c10::isFloatingType(first.scalar_type())) {
    const double start = context.FloatsInput(0).at(0);
    const double delta = context.FloatsInput(2).at(0);
    const double count =
        std::ceil((context.FloatsInput(1).at(0) - start) / delta);
    if (!std::isfinite(count) || count > 1e12)
      throw OperatorError("its values have no end");
    return {at::arange(static_cast<std::int64_t>(std::max(count, 0.0)), options)
                .to(ScalarType::Double)
                .mul(delta)
                .add(start)
                .to(first.scalar_type())};
  }
  const std::int64_t start = context.IntegersInput(0).at(0);
  const std::int64_t limit = context.IntegersInput(1).at(0);
  const std::int64_t delta = context.IntegersInput(2).at(0);
  if (delta == 0) throw OperatorError("its values have no end");
  const bool is_empty = delta > 0 ? start >= limit : start <= limit;
  return {at::arange(start, is_empty ? start : limit, delta, options)
              .to(first.scalar_type())};
}

// Ones on a diagonal of a matrix of the input's shape.
Tensors EyeLike(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  if (x.dim() != 2) throw OperatorError("the input is no matrix");
  const ScalarType type = context.HasAttribute("dtype")
                              ? context.HeldType(context.Integer("dtype"))
                              : x.scalar_type();
  const auto options = at::TensorOptions(ScalarType::Long);
  const at::Tensor rows = at::arange(x.size(0), options).unsqueeze(1);
  const at::Tensor columns = at::arange(x.size(1), options);
  return {rows.add(context.Integer("k", 0)).eq(columns).to(type)};
}

}  // namespace

void AddConstantOperators(OperatorTable& table) {
  table["Constant"] = Constant;
  table["ConstantOfShape"] = ConstantOfShape;
  table["Range"] = Range;
  table["EyeLike"] = EyeLike;
}

}  // namespace parity
