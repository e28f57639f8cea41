#include "kernels/widen_kernels.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/half.h"
#include "kernels/cpu_targets.h"  // IWYU pragma: keep

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/widen_kernels.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace parity::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using BitsTag = hn::RebindToUnsigned<FloatTag>;
using Floats = hn::Vec<FloatTag>;
using Bits = hn::Vec<BitsTag>;

// Not Highway's own promotion of float16: where the CPU has none, it turns
// infinity and NaN into finite numbers (1.2.0).
struct Half {
  static HWY_INLINE Floats Widen(Bits half) {
    const BitsTag u;
    const FloatTag f;
    const Bits shifted = hn::ShiftLeft<13>(hn::And(half, hn::Set(u, 0x7FFFU)));
    // The exponent's bias grows from 15 to 127; exact, subnormals included.
    const Bits finite =
        hn::BitCast(u, hn::Mul(hn::BitCast(f, shifted), hn::Set(f, 0x1p112F)));
    const auto is_special = hn::Ge(shifted, hn::Set(u, 0x7C00U << 13));
    const Bits special =
        hn::IfThenElseZero(is_special, hn::Set(u, 0x7F800000U));
    const Bits sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(u, 0x8000U)));
    return hn::BitCast(f, hn::Or(hn::Or(finite, special), sign));
  }
};

struct BFloat16 {
  static HWY_INLINE Floats Widen(Bits bits) {
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
};

// Widens whole vectors; returns how many elements that were.
template <class Format>
HWY_INLINE std::size_t WidenVectors(const std::uint16_t* from,
                                    std::size_t count, float* out) {
  const BitsTag u;
  const hn::Rebind<std::uint16_t, BitsTag> narrow;
  const std::size_t step = hn::Lanes(u);
  std::size_t i = 0;
  for (; i + step <= count; i += step) {
    const Bits bits = hn::PromoteTo(u, hn::LoadU(narrow, from + i));
    hn::StoreU(Format::Widen(bits), FloatTag(), out + i);
  }
  return i;
}

void HalvesToFloats(const std::uint16_t* from, std::size_t count, float* out) {
  for (std::size_t i = WidenVectors<Half>(from, count, out); i < count; ++i)
    out[i] = FloatFromHalf(from[i]);
}

void BFloat16sToFloats(const std::uint16_t* from, std::size_t count,
                       float* out) {
  for (std::size_t i = WidenVectors<BFloat16>(from, count, out); i < count; ++i)
    out[i] = FloatFromBFloat16(from[i]);
}

}  // namespace parity::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace parity {
namespace {
HWY_EXPORT(HalvesToFloats);
HWY_EXPORT(BFloat16sToFloats);
}  // namespace

void WidenHalves(std::span<const std::uint16_t> halves, std::span<float> out) {
  assert(halves.size() == out.size());
  HWY_DYNAMIC_DISPATCH(HalvesToFloats)
  (halves.data(), halves.size(), out.data());
}

void WidenBFloat16s(std::span<const std::uint16_t> values,
                    std::span<float> out) {
  assert(values.size() == out.size());
  HWY_DYNAMIC_DISPATCH(BFloat16sToFloats)
  (values.data(), values.size(), out.data());
}

}  // namespace parity
#endif  // HWY_ONCE
