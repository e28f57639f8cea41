// Stores computed values as elements of a tensor.
#ifndef PARITY_GENERATE_ELEMENT_WRITER_H_
#define PARITY_GENERATE_ELEMENT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parity/dtype.h"

namespace parity {

// IEEE binary16 and bfloat16, rounded once, to nearest even.
[[nodiscard]] std::uint16_t HalfFromDouble(double value);
[[nodiscard]] std::uint16_t BFloat16FromDouble(double value);

// Writes `values` to elements [begin, begin + values.size()) of a tensor's
// bytes. Floating dtypes: rounded once. Integers: to the nearest, halves away
// from zero, and to the ends of the range; NaN becomes 0. bool: whether the
// value is not 0. Not for complex dtypes.
void WriteElements(DType dtype, std::span<std::byte> bytes, std::size_t begin,
                   std::span<const double> values);

}  // namespace parity

#endif  // PARITY_GENERATE_ELEMENT_WRITER_H_
