#include "formats/elements/elements.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <span>

#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

constexpr std::int64_t kMaxIndex = std::int64_t{1} << 62;

std::int64_t Product(std::span<const std::int64_t> axes) {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes) product *= axis;
  return product;
}

// Copies rows along the last axis; an odometer walks the others.
template <std::size_t kSize>
void GatherSized(const StridedLayout& layout, const std::byte* block,
                 std::byte* target) {
  const std::size_t rank = layout.shape.size();
  const std::int64_t inner = rank == 0 ? 1 : layout.shape[rank - 1];
  const std::int64_t inner_stride = rank == 0 ? 0 : layout.strides[rank - 1];
  const std::int64_t rows = inner == 0 ? 0 : Product(layout.shape) / inner;
  std::array<std::int64_t, kMaxRank> index{};
  std::int64_t start = layout.offset;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::byte* source = block + start * std::int64_t{kSize};
    for (std::int64_t i = 0; i < inner; ++i) {
      std::memcpy(target, source, kSize);
      target += kSize;
      source += inner_stride * std::int64_t{kSize};
    }
    for (std::size_t axis = rank < 2 ? 0 : rank - 1; axis-- > 0;) {
      start += layout.strides[axis];
      if (++index[axis] < layout.shape[axis]) break;
      start -= layout.strides[axis] * layout.shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace

Result<std::int64_t> Extent(const StridedLayout& layout) {
  const std::size_t rank = layout.shape.size();
  if (rank != layout.strides.size() || rank > kMaxRank) {
    return Fail(ErrorCode::kCorrupt, std::format("has {} axes and {} strides",
                                                 rank, layout.strides.size()));
  }
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(layout.shape));
  if (layout.offset < 0 || layout.offset > kMaxIndex)
    return Fail(ErrorCode::kCorrupt,
                std::format("starts at element {}", layout.offset));
  std::int64_t last = layout.offset;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t stride = layout.strides[i];
    if (stride < 0)
      return Fail(ErrorCode::kCorrupt,
                  std::format("has the stride {}", stride));
    const std::int64_t steps = layout.shape[i] - 1;
    if (steps > 0 && stride > (kMaxIndex - last) / steps) {
      if (count == 0) continue;
      return Fail(ErrorCode::kCorrupt, "reaches beyond any memory");
    }
    if (steps > 0) last += steps * stride;
  }
  return count == 0 ? 0 : last + 1;
}

bool IsContiguous(const StridedLayout& layout) {
  if (std::ranges::contains(layout.shape, 0)) return true;
  std::int64_t expected = 1;
  for (std::size_t i = layout.shape.size(); i-- > 0;) {
    if (layout.shape[i] == 1) continue;
    if (layout.strides[i] != expected) return false;
    expected *= layout.shape[i];
  }
  return true;
}

Result<Tensor> Gather(DType dtype, const StridedLayout& layout,
                      std::span<const std::byte> block) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t extent, Extent(layout));
  const std::int64_t size = ByteSize(dtype);
  const auto available = static_cast<std::int64_t>(block.size()) / size;
  if (extent > available) {
    return Fail(ErrorCode::kCorrupt,
                std::format("reaches element {} of a storage of {}", extent,
                            available));
  }
  PARITY_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::Allocate(dtype, Shape(layout.shape.begin(), layout.shape.end())));
  if (extent == 0) return tensor;
  std::byte* const target = tensor.mutable_bytes().data();
  switch (size) {
    case 1:
      GatherSized<1>(layout, block.data(), target);
      break;
    case 2:
      GatherSized<2>(layout, block.data(), target);
      break;
    case 4:
      GatherSized<4>(layout, block.data(), target);
      break;
    case 8:
      GatherSized<8>(layout, block.data(), target);
      break;
    default:
      GatherSized<16>(layout, block.data(), target);
      break;
  }
  return tensor;
}

void ReverseByteOrder(DType dtype, std::span<std::byte> bytes) {
  const bool is_complex =
      dtype == DType::kComplex64 || dtype == DType::kComplex128;
  const auto unit =
      static_cast<std::size_t>(ByteSize(dtype)) / (is_complex ? 2 : 1);
  if (unit == 1) return;
  for (std::size_t i = 0; i + unit <= bytes.size(); i += unit)
    std::ranges::reverse(bytes.subspan(i, unit));
}

Status CheckBools(const TensorView& tensor) {
  if (tensor.dtype != DType::kBool) return {};
  std::byte all{0};
  for (const std::byte byte : tensor.bytes) all |= byte;
  if ((all & ~std::byte{1}) == std::byte{0}) return {};
  const auto bad = std::ranges::find_if(
      tensor.bytes, [](std::byte byte) { return byte > std::byte{1}; });
  return Fail(
      ErrorCode::kCorrupt,
      std::format("element {} is the byte {}, which is no bool (0 or 1)",
                  bad - tensor.bytes.begin(), std::to_integer<int>(*bad)));
}

}  // namespace parity
