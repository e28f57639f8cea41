// Conversions between float32 and the two 16-bit formats, in integer
// arithmetic: the same bits on every machine.
#ifndef PARITY_BASE_HALF_H_
#define PARITY_BASE_HALF_H_

#include <bit>
#include <cstdint>

namespace parity {

// IEEE binary16 → float32, exact; NaN payloads are kept.
[[nodiscard]] constexpr float FloatFromHalf(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1F)
    return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                                (mantissa << 13));
  // Subnormal: mantissa × 2^-24 is exact in float32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

// float32 → IEEE binary16, round to nearest even; too large becomes infinity,
// NaN stays NaN.
[[nodiscard]] constexpr std::uint16_t HalfFromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U)
    return static_cast<std::uint16_t>(sign | 0x7E00U |
                                      ((magnitude >> 13) & 0x3FFU));
  if (magnitude >= 0x477FF000U)
    return static_cast<std::uint16_t>(sign |
                                      0x7C00U);  // ≥ 65520 rounds to infinity
  if (magnitude < 0x33000001U) return sign;      // ≤ 2^-25 rounds to zero
  std::uint32_t mantissa = magnitude & 0x7FFFFFU;
  const std::uint32_t exponent = magnitude >> 23;
  std::uint32_t shift = 13;
  std::uint32_t result = 0;
  if (exponent < 113) {  // subnormal in half
    mantissa |= 0x800000U;
    shift = 126 - exponent;
  } else {
    result = (exponent - 112) << 10;
  }
  result += mantissa >> shift;
  const std::uint32_t rest = mantissa & ((1U << shift) - 1);
  const std::uint32_t middle = 1U << (shift - 1);
  if (rest > middle || (rest == middle && (result & 1U) != 0)) ++result;
  return static_cast<std::uint16_t>(sign | result);
}

// bfloat16 → float32, exact.
[[nodiscard]] constexpr float FloatFromBFloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// float32 → bfloat16, round to nearest even; NaN stays NaN.
[[nodiscard]] constexpr std::uint16_t BFloat16FromFloat(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >>
                                    16);
}

}  // namespace parity

#endif  // PARITY_BASE_HALF_H_
