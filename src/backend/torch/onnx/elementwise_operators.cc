// Arithmetic and mathematical functions, element by element; casts and bits.
#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <format>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backend/torch/onnx/integer_types.h"
#include "backend/torch/onnx/operator_context.h"
#include "backend/torch/onnx/operator_table.h"

namespace parity {
namespace {

using c10::ScalarType;
using Tensors = std::vector<at::Tensor>;

using UnaryMethod = at::Tensor (at::Tensor::*)() const;

template <UnaryMethod method>
Tensors Unary(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {(Widened(x).*method)().to(x.scalar_type())};
}

using BinaryFunction = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

template <BinaryFunction function>
Tensors Binary(const OperatorContext& context) {
  const at::Tensor& a = context.Input(0);
  return {function(Widened(a), Widened(context.Input(1))).to(a.scalar_type())};
}

// Of one or more inputs, from the left.
template <BinaryFunction function>
at::Tensor Folded(const OperatorContext& context) {
  at::Tensor result = Widened(context.Input(0));
  for (std::size_t i = 1; i < context.input_count(); ++i)
    result = function(result, Widened(context.Input(i)));
  return result;
}

template <BinaryFunction function>
Tensors Variadic(const OperatorContext& context) {
  return {Folded<function>(context).to(context.Input(0).scalar_type())};
}

at::Tensor Sum(const at::Tensor& a, const at::Tensor& b) { return a.add(b); }
at::Tensor Difference(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b);
}
at::Tensor Product(const at::Tensor& a, const at::Tensor& b) {
  return a.mul(b);
}
at::Tensor Quotient(const at::Tensor& a, const at::Tensor& b) {
  if (c10::isFloatingType(a.scalar_type())) return a.div(b);
  return a.div(b, "trunc");
}

Tensors Mean(const OperatorContext& context) {
  return {Folded<Sum>(context)
              .div(static_cast<double>(context.input_count()))
              .to(context.Input(0).scalar_type())};
}

// `fmod` has the sign of the dividend, as in C; otherwise the divisor's.
Tensors Mod(const OperatorContext& context) {
  const at::Tensor& a = context.Input(0);
  const at::Tensor dividend = Widened(a);
  const at::Tensor divisor = Widened(context.Input(1));
  return {(context.Integer("fmod", 0) != 0 ? dividend.fmod(divisor)
                                           : dividend.remainder(divisor))
              .to(a.scalar_type())};
}

// The result has the type of the base.
Tensors Pow(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  at::Tensor base = Widened(x);
  at::Tensor exponent = Widened(context.Input(1));
  if (c10::isFloatingType(base.scalar_type())) {
    exponent = exponent.to(base.scalar_type());
  } else if (c10::isFloatingType(exponent.scalar_type()) ||
             exponent.lt(0).any().item<bool>()) {
    base = base.to(ScalarType::Double);
    exponent = exponent.to(ScalarType::Double);
  }
  return {base.pow(exponent).to(x.scalar_type())};
}

Tensors Sign(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  if (!c10::isFloatingType(x.scalar_type()))
    return {Widened(x).sign().to(x.scalar_type())};
  // libtorch gives NaN the sign 0.
  return {at::where(x.isnan(), x, x.sign())};
}

// Limits are attributes before opset 11. A minimum above the maximum gives the
// maximum.
Tensors Clip(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const auto limit = [&](const char* attribute,
                         std::size_t input) -> std::optional<at::Scalar> {
    if (context.HasAttribute(attribute)) return context.Float(attribute, 0);
    if (!context.HasInput(input)) return std::nullopt;
    return Widened(context.Input(input)).reshape({}).item();
  };
  const std::optional<at::Scalar> least = limit("min", 1);
  const std::optional<at::Scalar> most = limit("max", 2);
  if (!least && !most) return {x};
  return {Widened(x).clamp(least, most).to(x.scalar_type())};
}

at::Tensor CastTo(const at::Tensor& x, ScalarType type) {
  if (type == ScalarType::Bool) return Widened(x).ne(0);
  // C++ leaves negative floating values → unsigned open; wrap around.
  if (c10::isFloatingType(x.scalar_type()) &&
      (type == ScalarType::Byte || IsBareUnsigned(type)))
    return x.to(ScalarType::Long).to(type);
  return x.to(type);
}

Tensors Cast(const OperatorContext& context) {
  return {CastTo(context.Input(0), context.HeldType(context.Integer("to")))};
}

Tensors CastLike(const OperatorContext& context) {
  return {CastTo(context.Input(0), context.Input(1).scalar_type())};
}

Tensors Identity(const OperatorContext& context) { return {context.Input(0)}; }

// Optional values are tensors here, or left out.
Tensors OptionalHasElement(const OperatorContext& context) {
  return {
      at::full({}, context.HasInput(0), at::TensorOptions(ScalarType::Bool))};
}

// As in inference: nothing is dropped.
Tensors Dropout(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  const bool is_training = context.HasInput(2) && context.Input(2).item<bool>();
  const double ratio =
      context.HasInput(1)
          ? context.Input(1).to(ScalarType::Double).item<double>()
          : 0.5;
  if (is_training && ratio != 0)
    throw OperatorError("training_mode drops values at random");
  return {x, at::ones_like(x, context.opset() < 10
                                  ? at::TensorOptions()
                                  : at::TensorOptions(ScalarType::Bool))};
}

Tensors IsNaN(const OperatorContext& context) {
  return {context.Input(0).isnan()};
}

Tensors IsInf(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  at::Tensor found = at::zeros_like(x, ScalarType::Bool);
  if (context.Integer("detect_positive", 1) != 0)
    found = found.logical_or(x.eq(kInfinity));
  if (context.Integer("detect_negative", 1) != 0)
    found = found.logical_or(x.eq(-kInfinity));
  return {found};
}

at::Tensor BitAnd(const at::Tensor& a, const at::Tensor& b) {
  return a.bitwise_and(b);
}
at::Tensor BitOr(const at::Tensor& a, const at::Tensor& b) {
  return a.bitwise_or(b);
}
at::Tensor BitXor(const at::Tensor& a, const at::Tensor& b) {
  return a.bitwise_xor(b);
}

template <BinaryFunction function>
Tensors Bitwise(const OperatorContext& context) {
  const at::Tensor& a = context.Input(0);
  return {FromSigned(function(AsSigned(a), AsSigned(context.Input(1))),
                     a.scalar_type())};
}

Tensors BitwiseNot(const OperatorContext& context) {
  const at::Tensor& x = context.Input(0);
  return {FromSigned(AsSigned(x).bitwise_not(), x.scalar_type())};
}

// Of unsigned integers; every bit is lost by a shift as wide as the type.
Tensors BitShift(const OperatorContext& context) {
  const std::string direction = context.String("direction", "");
  const ScalarType type = context.Input(0).scalar_type();
  const auto bits = static_cast<std::int64_t>(8 * c10::elementSize(type));
  // The 64 bits of the value, whatever its sign means.
  const at::Tensor value = type == ScalarType::UInt64
                               ? AsSigned(context.Input(0))
                               : context.Input(0).to(ScalarType::Long);
  const at::Tensor amount = Widened(context.Input(1)).to(ScalarType::Long);
  const at::Tensor held = amount.clamp(0, 63);
  at::Tensor shifted;
  if (direction == "LEFT") {
    shifted = value.bitwise_left_shift(held);
  } else if (direction == "RIGHT") {
    // Without the copies of the sign that come in from the left.
    const at::Tensor mask =
        at::full_like(value, std::numeric_limits<std::int64_t>::max());
    const at::Tensor rest = held.sub(1).clamp_min(0);
    shifted = at::where(
        held.eq(0), value,
        value.bitwise_right_shift(1).bitwise_and(mask).bitwise_right_shift(
            rest));
  } else {
    throw OperatorError(
        std::format("direction is LEFT or RIGHT, not '{}'", direction));
  }
  shifted = at::where(amount.ge(bits), at::zeros_like(shifted), shifted);
  return {type == ScalarType::UInt64 ? FromSigned(shifted, type)
                                     : shifted.to(type)};
}

void AddFunctions(OperatorTable& table) {
  table["Abs"] = Unary<&at::Tensor::abs>;
  table["Acos"] = Unary<&at::Tensor::acos>;
  table["Acosh"] = Unary<&at::Tensor::acosh>;
  table["Asin"] = Unary<&at::Tensor::asin>;
  table["Asinh"] = Unary<&at::Tensor::asinh>;
  table["Atan"] = Unary<&at::Tensor::atan>;
  table["Atanh"] = Unary<&at::Tensor::atanh>;
  table["Ceil"] = Unary<&at::Tensor::ceil>;
  table["Cos"] = Unary<&at::Tensor::cos>;
  table["Cosh"] = Unary<&at::Tensor::cosh>;
  table["Erf"] = Unary<&at::Tensor::erf>;
  table["Exp"] = Unary<&at::Tensor::exp>;
  table["Floor"] = Unary<&at::Tensor::floor>;
  table["Log"] = Unary<&at::Tensor::log>;
  table["Neg"] = Unary<&at::Tensor::neg>;
  table["Reciprocal"] = Unary<&at::Tensor::reciprocal>;
  table["Round"] = Unary<&at::Tensor::round>;  // halves to even
  table["Sigmoid"] = Unary<&at::Tensor::sigmoid>;
  table["Sign"] = Sign;
  table["Sin"] = Unary<&at::Tensor::sin>;
  table["Sinh"] = Unary<&at::Tensor::sinh>;
  table["Sqrt"] = Unary<&at::Tensor::sqrt>;
  table["Tan"] = Unary<&at::Tensor::tan>;
  table["Tanh"] = Unary<&at::Tensor::tanh>;
}

}  // namespace

void AddElementwiseOperators(OperatorTable& table) {
  AddFunctions(table);
  table["Add"] = Binary<Sum>;
  table["Sub"] = Binary<Difference>;
  table["Mul"] = Binary<Product>;
  table["Div"] = Binary<Quotient>;
  table["Mod"] = Mod;
  table["Pow"] = Pow;
  table["Sum"] = Variadic<Sum>;
  table["Mean"] = Mean;
  table["Max"] = Variadic<at::maximum>;
  table["Min"] = Variadic<at::minimum>;
  table["Clip"] = Clip;
  table["Cast"] = Cast;
  table["CastLike"] = CastLike;
  table["Identity"] = Identity;
  table["OptionalGetElement"] = Identity;
  table["OptionalHasElement"] = OptionalHasElement;
  table["Dropout"] = Dropout;
  table["IsNaN"] = IsNaN;
  table["IsInf"] = IsInf;
  table["BitShift"] = BitShift;
  table["BitwiseAnd"] = Bitwise<BitAnd>;
  table["BitwiseOr"] = Bitwise<BitOr>;
  table["BitwiseXor"] = Bitwise<BitXor>;
  table["BitwiseNot"] = BitwiseNot;
}

}  // namespace parity
