#include "tensor/value_sketch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/half.h"
#include "base/splitmix.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr SplitMixStream kSigns("value sketch", 0);

// Eight signs come from each of the eight bytes of one draw: element i of a
// block of eight takes byte i.
class Accumulator {
 public:
  void Add(double value) {
    if ((index_ & 7U) == 0) signs_ = kSigns.Bits(index_ >> 3U);
    if (!std::isfinite(value)) {
      ++sketch_.nonfinite_count;
      value = 0;
    }
    const std::uint64_t signs = signs_ >> ((index_ & 7U) * 8U);
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (std::size_t p = 0; p < ValueSketch::kProjections; ++p) {
      sketch_.projections[p] +=
          std::bit_cast<double>(bits ^ (((signs >> p) & 1U) << 63U));
    }
    squares_ += value * value;
    sketch_.sum += value;
    sketch_.cubes += value * value * value;
    ++index_;
  }

  [[nodiscard]] ValueSketch Take() {
    sketch_.element_count = static_cast<std::int64_t>(index_);
    sketch_.norm = std::sqrt(squares_);
    return sketch_;
  }

 private:
  ValueSketch sketch_;
  double squares_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t signs_ = 0;
};

template <class T, class Widen>
ValueSketch Sketch(const TensorView& tensor, Widen widen) {
  Accumulator accumulator;
  for (const T value : tensor.As<T>()) accumulator.Add(widen(value));
  return accumulator.Take();
}

template <class T>
ValueSketch Sketch(const TensorView& tensor) {
  return Sketch<T>(tensor, [](T value) { return static_cast<double>(value); });
}

double Ratio(double difference, double scale) {
  if (difference == 0) return 0;
  return scale > 0 ? difference / scale
                   : std::numeric_limits<double>::infinity();
}

bool SameCounts(const ValueSketch& x, const ValueSketch& y) {
  return x.element_count == y.element_count &&
         x.nonfinite_count == y.nonfinite_count;
}

}  // namespace

ValueSketch SketchOf(const TensorView& tensor) {
  switch (tensor.dtype) {
    case DType::kFloat16:
      return Sketch<std::uint16_t>(tensor, FloatFromHalf);
    case DType::kBFloat16:
      return Sketch<std::uint16_t>(tensor, FloatFromBFloat16);
    case DType::kFloat32:
      return Sketch<float>(tensor);
    case DType::kFloat64:
      return Sketch<double>(tensor);
    case DType::kInt8:
      return Sketch<std::int8_t>(tensor);
    case DType::kInt16:
      return Sketch<std::int16_t>(tensor);
    case DType::kInt32:
      return Sketch<std::int32_t>(tensor);
    case DType::kInt64:
      return Sketch<std::int64_t>(tensor);
    case DType::kUInt8:
      return Sketch<std::uint8_t>(tensor);
    case DType::kUInt16:
      return Sketch<std::uint16_t>(tensor);
    case DType::kUInt32:
      return Sketch<std::uint32_t>(tensor);
    case DType::kUInt64:
      return Sketch<std::uint64_t>(tensor);
    case DType::kBool:
      return Sketch<std::uint8_t>(
          tensor, [](std::uint8_t value) { return value == 0 ? 0.0 : 1.0; });
    case DType::kComplex64:
    case DType::kComplex128:
      break;
  }
  return {};
}

std::array<double, ValueSketch::kNumbers> ValueSketch::ToNumbers() const {
  std::array<double, kNumbers> numbers = {static_cast<double>(element_count),
                                          static_cast<double>(nonfinite_count),
                                          norm, sum, cubes};
  std::ranges::copy(projections, numbers.begin() + 5);
  return numbers;
}

ValueSketch ValueSketch::FromNumbers(
    std::span<const double, kNumbers> numbers) {
  ValueSketch sketch{.element_count = static_cast<std::int64_t>(numbers[0]),
                     .nonfinite_count = static_cast<std::int64_t>(numbers[1]),
                     .norm = numbers[2],
                     .sum = numbers[3],
                     .cubes = numbers[4]};
  std::ranges::copy(numbers.subspan<5>(), sketch.projections.begin());
  return sketch;
}

double RelativeDistance(const ValueSketch& x, const ValueSketch& y) {
  if (!SameCounts(x, y)) return std::numeric_limits<double>::infinity();
  double squares = 0;
  for (std::size_t p = 0; p < ValueSketch::kProjections; ++p) {
    const double difference = x.projections[p] - y.projections[p];
    squares += difference * difference;
  }
  return Ratio(
      std::sqrt(squares / static_cast<double>(ValueSketch::kProjections)),
      std::max(x.norm, y.norm));
}

double UnorderedDistance(const ValueSketch& x, const ValueSketch& y) {
  if (!SameCounts(x, y)) return std::numeric_limits<double>::infinity();
  const double norm = std::max(x.norm, y.norm);
  return std::max({Ratio(std::abs(x.norm - y.norm), norm),
                   Ratio(std::abs(x.sum - y.sum), norm),
                   Ratio(std::abs(x.cubes - y.cubes), norm * norm * norm)});
}

}  // namespace parity
