#include "generate/element_writer.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/half.h"
#include "parity/dtype.h"

namespace parity {
namespace {

// The float32 nearest to zero's side of `value`, with its last bit set where
// anything was cut off ("round to odd"). Rounding that once more, to a format
// with at least two bits less, gives the bits of rounding `value` directly.
float RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const double widened = nearest;
  if (widened == value || std::isnan(value)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(widened) > std::abs(value)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

template <class T>
T IntegerFrom(double value) {
  // Both ends as doubles: the upper one, 2^k, is just above the range.
  constexpr auto kLow = static_cast<double>(std::numeric_limits<T>::min());
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (std::isnan(value)) return 0;
  const double rounded = std::round(value);
  if (rounded >= end) return std::numeric_limits<T>::max();
  if (rounded <= kLow) return std::numeric_limits<T>::min();
  return static_cast<T>(rounded);
}

template <class T, class Convert>
void WriteAs(std::span<std::byte> bytes, std::size_t begin,
             std::span<const double> values, const Convert& convert) {
  assert((begin + values.size()) * sizeof(T) <= bytes.size());
  T* const out = reinterpret_cast<T*>(bytes.data()) + begin;
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = convert(values[i]);
}

}  // namespace

std::uint16_t HalfFromDouble(double value) {
  return HalfFromFloat(RoundToOdd(value));
}

std::uint16_t BFloat16FromDouble(double value) {
  return BFloat16FromFloat(RoundToOdd(value));
}

void WriteElements(DType dtype, std::span<std::byte> bytes, std::size_t begin,
                   std::span<const double> values) {
  switch (dtype) {
    case DType::kFloat16:
      return WriteAs<std::uint16_t>(bytes, begin, values, HalfFromDouble);
    case DType::kBFloat16:
      return WriteAs<std::uint16_t>(bytes, begin, values, BFloat16FromDouble);
    case DType::kFloat32:
      return WriteAs<float>(bytes, begin, values,
                            [](double v) { return static_cast<float>(v); });
    case DType::kFloat64:
      return WriteAs<double>(bytes, begin, values, [](double v) { return v; });
    case DType::kInt8:
      return WriteAs<std::int8_t>(bytes, begin, values,
                                  IntegerFrom<std::int8_t>);
    case DType::kInt16:
      return WriteAs<std::int16_t>(bytes, begin, values,
                                   IntegerFrom<std::int16_t>);
    case DType::kInt32:
      return WriteAs<std::int32_t>(bytes, begin, values,
                                   IntegerFrom<std::int32_t>);
    case DType::kInt64:
      return WriteAs<std::int64_t>(bytes, begin, values,
                                   IntegerFrom<std::int64_t>);
    case DType::kUInt8:
      return WriteAs<std::uint8_t>(bytes, begin, values,
                                   IntegerFrom<std::uint8_t>);
    case DType::kUInt16:
      return WriteAs<std::uint16_t>(bytes, begin, values,
                                    IntegerFrom<std::uint16_t>);
    case DType::kUInt32:
      return WriteAs<std::uint32_t>(bytes, begin, values,
                                    IntegerFrom<std::uint32_t>);
    case DType::kUInt64:
      return WriteAs<std::uint64_t>(bytes, begin, values,
                                    IntegerFrom<std::uint64_t>);
    case DType::kBool:
      return WriteAs<std::uint8_t>(bytes, begin, values, [](double v) {
        return static_cast<std::uint8_t>(v != 0 ? 1 : 0);
      });
    case DType::kComplex64:
    case DType::kComplex128:
      assert(false && "complex tensors are never generated");
  }
}

}  // namespace parity
