// Three ways from stored elements to sums:
//   both sides at most 32 bits wide and floating: float32 pairs, in place or
//     widened span by span;
//   one side float64: float64 pairs, likewise;
//   integers and bool: expected value and difference as double, the difference
//     of 64-bit ones taken in integers first.
#include "compare/pair_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <format>
#include <span>
#include <string_view>

#include "base/half.h"
#include "base/status_macros.h"
#include "compare/totals.h"
#include "kernels/compare_kernels.h"
#include "kernels/widen_kernels.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"
#include "parity/tolerance.h"

namespace parity {
namespace {

constexpr auto kSpanSize = static_cast<std::size_t>(kSpan);

bool IsComplex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

Status CheckBytes(const TensorView& view, std::string_view side) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(view.shape));
  const auto size = static_cast<std::int64_t>(view.bytes.size());
  if (size % ByteSize(view.dtype) != 0 || size / ByteSize(view.dtype) != count)
    return Fail(
        ErrorCode::kCorrupt,
        std::format("{} tensor: {} bytes do not make shape {} of {}", side,
                    size, ToString(view.shape), Name(view.dtype)));
  return {};
}

Status CheckComparable(const TensorView& expected, const TensorView& actual) {
  for (const DType dtype : {expected.dtype, actual.dtype}) {
    if (IsComplex(dtype))
      return Fail(ErrorCode::kUnsupported,
                  std::format("{} tensors cannot be compared", Name(dtype)));
  }
  if (!std::ranges::equal(expected.shape, actual.shape))
    return Fail(ErrorCode::kIncompatible,
                std::format("shapes differ: expected {}, actual {}",
                            ToString(expected.shape), ToString(actual.shape)));
  const bool both_floating =
      IsFloating(expected.dtype) && IsFloating(actual.dtype);
  if (expected.dtype != actual.dtype && !both_floating)
    return Fail(ErrorCode::kIncompatible,
                std::format("dtypes differ: expected {}, actual {}; only "
                            "floating dtypes are compared with each other",
                            Name(expected.dtype), Name(actual.dtype)));
  PARITY_RETURN_IF_ERROR(CheckBytes(expected, "expected"));
  return CheckBytes(actual, "actual");
}

// Calls visit(T{}) with the C++ type of an integer dtype.
template <class Visitor>
auto VisitInteger(DType dtype, const Visitor& visit) {
  switch (dtype) {
    case DType::kInt8:
      return visit(std::int8_t{});
    case DType::kInt16:
      return visit(std::int16_t{});
    case DType::kInt32:
      return visit(std::int32_t{});
    case DType::kInt64:
      return visit(std::int64_t{});
    case DType::kUInt16:
      return visit(std::uint16_t{});
    case DType::kUInt32:
      return visit(std::uint32_t{});
    case DType::kUInt64:
      return visit(std::uint64_t{});
    default:
      return visit(std::uint8_t{});
  }
}

// Exact for up to 32 bits, else rounded once.
template <class T>
double Difference(T expected, T actual) {
  if constexpr (sizeof(T) < sizeof(std::int64_t)) {
    return static_cast<double>(actual) - static_cast<double>(expected);
  } else {
    // The magnitude of any difference of two 64-bit integers fits 64 unsigned
    // bits.
    const auto e = static_cast<std::uint64_t>(expected);
    const auto a = static_cast<std::uint64_t>(actual);
    return actual >= expected ? static_cast<double>(a - e)
                              : -static_cast<double>(e - a);
  }
}

template <class T>
ElementPair IntegerPair(T expected, T actual) {
  return {.expected = static_cast<double>(expected),
          .actual = static_cast<double>(actual),
          .difference = Difference(expected, actual)};
}

double FloatingAt(const TensorView& view, std::size_t index) {
  switch (view.dtype) {
    case DType::kFloat16:
      return FloatFromHalf(view.As<std::uint16_t>()[index]);
    case DType::kBFloat16:
      return FloatFromBFloat16(view.As<std::uint16_t>()[index]);
    case DType::kFloat32:
      return view.As<float>()[index];
    default:
      return view.As<double>()[index];
  }
}

// Elements of one span of a floating tensor, at most 32 bits wide, as float32:
// the tensor's own where it is float32, else widened into `buffer`.
std::span<const float> FloatSpan(const TensorView& view, std::size_t begin,
                                 std::size_t count, std::span<float> buffer) {
  if (view.dtype == DType::kFloat32)
    return view.As<float>().subspan(begin, count);
  const auto bits = view.As<std::uint16_t>().subspan(begin, count);
  const auto out = buffer.first(count);
  if (view.dtype == DType::kFloat16) {
    WidenHalves(bits, out);
  } else {
    WidenBFloat16s(bits, out);
  }
  return out;
}

// Likewise, of any floating tensor, as float64.
std::span<const double> DoubleSpan(const TensorView& view, std::size_t begin,
                                   std::size_t count,
                                   std::span<double> buffer) {
  if (view.dtype == DType::kFloat64)
    return view.As<double>().subspan(begin, count);
  std::array<float, kSpanSize> floats;
  std::ranges::copy(FloatSpan(view, begin, count, floats), buffer.begin());
  return buffer.first(count);
}

template <class T>
PairSums SumIntegers(std::span<const T> expected, std::span<const T> actual,
                     bool is_bool, PairBound bound) {
  std::array<double, kSpanSize> wide;
  std::array<double, kSpanSize> difference;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ElementPair pair = is_bool
                                 ? IntegerPair(expected[i] != 0, actual[i] != 0)
                                 : IntegerPair(expected[i], actual[i]);
    wide[i] = pair.expected;
    difference[i] = pair.difference;
  }
  return SumDifferences(std::span(wide).first(expected.size()),
                        std::span(difference).first(expected.size()), bound);
}

}  // namespace

Result<PairReader> PairReader::Create(const TensorView& expected,
                                      const TensorView& actual) {
  PARITY_RETURN_IF_ERROR(CheckComparable(expected, actual));
  return PairReader(expected, actual);
}

Totals PairReader::Sum(std::int64_t begin, std::int64_t count,
                       const Tolerance& tolerance, double known_rel) const {
  const auto from = static_cast<std::size_t>(begin);
  const auto size = static_cast<std::size_t>(count);
  const PairBound bound{.atol = tolerance.atol, .rtol = tolerance.rtol};
  const auto finish = [&](const PairSums& sums, auto expected, auto actual) {
    Totals totals = SpanTotals(begin, count, sums);
    if (totals.pairs.nonfinite_count > 0)
      CountNonFinite(expected, actual, begin, tolerance, totals);
    return totals;
  };
  if (!IsFloating(expected_.dtype)) {
    const auto sums = VisitInteger(expected_.dtype, [&]<class T>(T) {
      return SumIntegers(expected_.As<T>().subspan(from, size),
                         actual_.As<T>().subspan(from, size),
                         expected_.dtype == DType::kBool, bound);
    });
    return SpanTotals(begin, count, sums);
  }
  if (expected_.dtype == DType::kFloat64 || actual_.dtype == DType::kFloat64) {
    std::array<double, kSpanSize> expected_wide;
    std::array<double, kSpanSize> actual_wide;
    const auto expected = DoubleSpan(expected_, from, size, expected_wide);
    const auto actual = DoubleSpan(actual_, from, size, actual_wide);
    return finish(SumDoublePairs(expected, actual, bound), expected, actual);
  }
  std::array<float, kSpanSize> expected_wide;
  std::array<float, kSpanSize> actual_wide;
  const auto expected = FloatSpan(expected_, from, size, expected_wide);
  const auto actual = FloatSpan(actual_, from, size, actual_wide);
  return finish(SumFloatPairs(expected, actual, bound, known_rel), expected,
                actual);
}

ElementPair PairReader::At(std::int64_t index) const {
  const auto i = static_cast<std::size_t>(index);
  if (IsFloating(expected_.dtype)) {
    const double expected = FloatingAt(expected_, i);
    const double actual = FloatingAt(actual_, i);
    return {.expected = expected,
            .actual = actual,
            .difference = actual - expected};
  }
  return VisitInteger(expected_.dtype, [&]<class T>(T) {
    const T expected = expected_.As<T>()[i];
    const T actual = actual_.As<T>()[i];
    if (expected_.dtype == DType::kBool)
      return IntegerPair(expected != 0, actual != 0);
    return IntegerPair(expected, actual);
  });
}

}  // namespace parity
