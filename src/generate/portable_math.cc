#include "generate/portable_math.h"

#include <array>
#include <bit>
#include <cstdint>
#include <numbers>

namespace parity {
namespace {

// 2·(1, 1/3, 1/5, …): log((1 + s) / (1 - s)) = s·Σ c_k·s^(2k).
constexpr std::array kLogSeries = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,
                                   2.0 / 9,  2.0 / 11, 2.0 / 13, 2.0 / 15,
                                   2.0 / 17, 2.0 / 19, 2.0 / 21};

// (1, -1/3!, 1/5!, …): sin x = x·Σ c_k·x^(2k). The first term left out is at
// most (π/2)^23 / 23! = 1.3e-18.
constexpr std::array kSineSeries = {1.0,
                                    -1.0 / 6,
                                    1.0 / 120,
                                    -1.0 / 5040,
                                    1.0 / 362880,
                                    -1.0 / 39916800,
                                    1.0 / 6227020800,
                                    -1.0 / 1307674368000,
                                    1.0 / 355687428096000,
                                    -1.0 / 121645100408832000.0,
                                    1.0 / 51090942171709440000.0};

template <class Series>
double Polynomial(const Series& series, double x) {
  double sum = 0;
  for (auto c = series.rbegin(); c != series.rend(); ++c) sum = sum * x + *c;
  return sum;
}

}  // namespace

double PortableLog(double x) {
  // x = mantissa·2^exponent with the mantissa in [√½, √2).
  constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCD;  // √½
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::int64_t exponent =
      static_cast<std::int64_t>(bits - kHalfRoot) >> 52;
  const double mantissa = std::bit_cast<double>(
      bits - (static_cast<std::uint64_t>(exponent) << 52));
  const double s = (mantissa - 1) / (mantissa + 1);
  const double log_mantissa = s * Polynomial(kLogSeries, s * s);
  // ln 2 in two parts, the first with 20 zero bits at its end, so that its
  // product with the exponent is exact.
  constexpr double kHigh = 0x1.62E42FEEp-1;
  constexpr double kLow = 0x1.A39EF35793C76p-33;
  const auto k = static_cast<double>(exponent);
  return k * kHigh + (k * kLow + log_mantissa);
}

double SinTurns(double turns) {
  // To [-½, ½] turns, then by symmetry to [-¼, ¼]: each step is exact.
  const auto whole = static_cast<double>(
      static_cast<std::int64_t>(turns + (turns < 0 ? -0.5 : 0.5)));
  double rest = turns - whole;
  if (rest > 0.25) rest = 0.5 - rest;
  if (rest < -0.25) rest = -0.5 - rest;
  const double angle = 2 * std::numbers::pi * rest;
  return angle * Polynomial(kSineSeries, angle * angle);
}

double CosTurns(double turns) { return SinTurns(turns + 0.25); }

}  // namespace parity
