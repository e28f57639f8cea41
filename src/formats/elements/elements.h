// What several file formats need done to elements before they are a Tensor:
// byte order, strides, and bytes that are no bool.
#ifndef PARITY_FORMATS_ELEMENTS_ELEMENTS_H_
#define PARITY_FORMATS_ELEMENTS_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {

// No tensor of PyTorch or NumPy has more axes.
inline constexpr std::size_t kMaxRank = 64;

// Elements `offset + Σ index[i]·strides[i]` of a block; offset and strides
// count elements. Borrows its spans.
struct StridedLayout {
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;  // as many as axes; 0 repeats
  std::int64_t offset = 0;
};

// One more than the largest element index the layout touches; 0 when it touches
// none. Errors: kCorrupt for a negative offset, stride or axis, for unequal
// ranks or ranks beyond kMaxRank, and for an index beyond 2^62.
[[nodiscard]] Result<std::int64_t> Extent(const StridedLayout& layout);

// The elements follow each other in row-major order. Strides of axes of size 1
// do not matter; a layout without elements is contiguous.
[[nodiscard]] bool IsContiguous(const StridedLayout& layout);

// A contiguous copy of the layout's elements, read from `block`. Errors:
// kCorrupt when the layout leaves the block, and those of Extent().
[[nodiscard]] Result<Tensor> Gather(DType dtype, const StridedLayout& layout,
                                    std::span<const std::byte> block);

// Between big-endian and little-endian, in place; the two parts of a complex
// element are reversed apart.
void ReverseByteOrder(DType dtype, std::span<std::byte> bytes);

// Errors: kCorrupt when a bool tensor holds a byte other than 0 and 1, which
// programs read differently. Tensors of other dtypes always pass.
[[nodiscard]] Status CheckBools(const TensorView& tensor);

}  // namespace parity

#endif  // PARITY_FORMATS_ELEMENTS_ELEMENTS_H_
