// 16-bit floating formats to float32, exactly, in vectors.
#ifndef PARITY_KERNELS_WIDEN_KERNELS_H_
#define PARITY_KERNELS_WIDEN_KERNELS_H_

#include <cstdint>
#include <span>

namespace parity {

// IEEE binary16. `out` has the length of `halves`. NaNs stay NaNs. Thread-safe.
void WidenHalves(std::span<const std::uint16_t> halves, std::span<float> out);

// bfloat16, likewise.
void WidenBFloat16s(std::span<const std::uint16_t> values,
                    std::span<float> out);

}  // namespace parity

#endif  // PARITY_KERNELS_WIDEN_KERNELS_H_
