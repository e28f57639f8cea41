#include "validate/varied_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "base/half.h"
#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "validate/case_variations.h"

namespace parity {
namespace {

constexpr double kLargestHalf = 65504;

// Calls `visit` with the elements of a floating tensor as doubles, and stores
// what it returns in `into` (of the same dtype and size) where that is given.
void ForEachFloat(const Tensor& tensor, Tensor* into,
                  const std::function<double(double, std::size_t)>& visit) {
  const auto apply = [&]<class T>(auto read, auto write) {
    const std::span<const T> from = tensor.As<T>();
    const std::span<T> to =
        into == nullptr ? std::span<T>() : into->MutableAs<T>();
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double value = visit(static_cast<double>(read(from[i])), i);
      if (!to.empty()) to[i] = write(value);
    }
  };
  const auto same = [](auto value) { return value; };
  switch (tensor.dtype()) {
    case DType::kFloat16:
      apply.template operator()<std::uint16_t>(FloatFromHalf, [](double value) {
        return HalfFromFloat(
            static_cast<float>(std::clamp(value, -kLargestHalf, kLargestHalf)));
      });
      break;
    case DType::kBFloat16:
      apply.template operator()<std::uint16_t>(
          FloatFromBFloat16, [](double value) {
            return BFloat16FromFloat(static_cast<float>(value));
          });
      break;
    case DType::kFloat32:
      apply.template operator()<float>(
          same, [](double value) { return static_cast<float>(value); });
      break;
    case DType::kFloat64:
      apply.template operator()<double>(same, same);
      break;
    default:
      break;
  }
}

// The given tensor repeated along its axes, each repetition shifted by another
// multiple of about 0.38 of its elements: the golden section leaves no two of a
// few repetitions close to each other.
Result<Tensor> Tiled(const Tensor& given, const Shape& shape) {
  if (shape == given.shape()) return given;
  PARITY_ASSIGN_OR_RETURN(Tensor tiled, Tensor::Allocate(given.dtype(), shape));
  const std::int64_t count = given.element_count();
  if (count == 0) return tiled;
  const std::int64_t shift =
      static_cast<std::int64_t>(static_cast<double>(count) * 0.381966) | 1;
  const auto size = static_cast<std::size_t>(ByteSize(given.dtype()));
  const std::span<std::byte> bytes = tiled.mutable_bytes();
  Shape place(shape.size(), 0);
  const std::int64_t total = tiled.element_count();
  for (std::int64_t i = 0; i < total; ++i) {
    std::int64_t source = 0;
    std::int64_t tile = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t length = given.shape()[axis];
      source = source * length + place[axis] % length;
      tile =
          tile * ((shape[axis] + length - 1) / length) + place[axis] / length;
    }
    source = (source + tile % count * shift) % count;
    std::memcpy(&bytes[static_cast<std::size_t>(i) * size],
                &given.bytes()[static_cast<std::size_t>(source) * size], size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++place[axis] < shape[axis]) break;
      place[axis] = 0;
    }
  }
  return tiled;
}

std::function<double(double, std::size_t)> ChangeOf(
    const CaseVariation& variation, const Tensor& tensor) {
  const double operand = variation.operand;
  switch (variation.change) {
    case ValueChange::kConstant:
      return [operand](double, std::size_t) { return operand; };
    case ValueChange::kScale:
      return [operand](double value, std::size_t) { return value * operand; };
    case ValueChange::kOffset:
      return [operand](double value, std::size_t) { return value + operand; };
    case ValueChange::kSteps:
      return [operand](double value, std::size_t) {
        return std::nearbyint(value / operand) * operand;
      };
    case ValueChange::kZeroRow: {
      const std::size_t row =
          tensor.shape().empty()
              ? 1
              : static_cast<std::size_t>(tensor.shape().back());
      return [row](double value, std::size_t index) {
        return index < row ? 0 : value;
      };
    }
    case ValueChange::kMiddle:
    case ValueChange::kRangeEnds: {
      const ValueRange range = RangeOf(tensor);
      if (range.low > range.high) break;
      const double middle = range.low / 2 + range.high / 2;
      if (variation.change == ValueChange::kMiddle)
        return [middle](double, std::size_t) { return middle; };
      return [range, middle](double value, std::size_t) {
        return value < middle ? range.low : range.high;
      };
    }
    case ValueChange::kNone:
    case ValueChange::kInteger:
      break;
  }
  return nullptr;
}

Result<Tensor> WithChange(const Tensor& tensor,
                          const CaseVariation& variation) {
  if (!IsFloating(tensor.dtype()) ||
      (variation.change == ValueChange::kOffset &&
       !CanBeOffset(tensor.dtype())))
    return tensor;
  const auto change = ChangeOf(variation, tensor);
  if (!change) return tensor;
  PARITY_ASSIGN_OR_RETURN(Tensor changed,
                          Tensor::Allocate(tensor.dtype(), tensor.shape()));
  ForEachFloat(tensor, &changed, change);
  return changed;
}

Result<Tensor> WithInteger(const Tensor& tensor, double value) {
  PARITY_ASSIGN_OR_RETURN(Tensor changed,
                          Tensor::Allocate(tensor.dtype(), tensor.shape()));
  const auto bits = static_cast<std::uint64_t>(value);
  std::memcpy(changed.mutable_bytes().data(), &bits,
              changed.mutable_bytes().size());
  return changed;
}

}  // namespace

ValueRange RangeOf(const Tensor& tensor) {
  ValueRange range = {.low = std::numeric_limits<double>::infinity(),
                      .high = -std::numeric_limits<double>::infinity()};
  ForEachFloat(tensor, nullptr, [&](double value, std::size_t) {
    if (std::isfinite(value)) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
    return value;
  });
  return range;
}

bool CanBeOffset(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

Result<NamedTensors> MakeVariation(const NamedTensors& inputs,
                                   const CaseVariation& variation) {
  NamedTensors varied;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    PARITY_ASSIGN_OR_RETURN(Tensor tensor,
                            Tiled(inputs[i].tensor, variation.shapes[i]));
    if (variation.change == ValueChange::kInteger) {
      if (inputs[i].name == variation.input) {
        PARITY_ASSIGN_OR_RETURN(tensor, WithInteger(tensor, variation.operand));
      }
    } else {
      PARITY_ASSIGN_OR_RETURN(tensor, WithChange(tensor, variation));
    }
    varied.push_back({.name = inputs[i].name, .tensor = std::move(tensor)});
  }
  return varied;
}

}  // namespace parity
