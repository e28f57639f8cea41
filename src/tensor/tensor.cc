#include "parity/tensor.h"

#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <format>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;

Result<std::int64_t> TotalBytes(DType dtype,
                                std::span<const std::int64_t> shape) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t count, ElementCount(shape));
  if (count > kMaxElements / ByteSize(dtype)) {
    return Fail(ErrorCode::kCorrupt,
                std::format("a tensor of shape {} is too large for any memory",
                            ToString(shape)));
  }
  return count * ByteSize(dtype);
}

}  // namespace

Result<std::int64_t> ElementCount(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t axis : shape) {
    if (axis < 0)
      return Fail(ErrorCode::kCorrupt,
                  std::format("shape {} has a negative axis", ToString(shape)));
    if (axis != 0 && count > kMaxElements / axis) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("shape {} has more than 2^62 elements", ToString(shape)));
    }
    count *= axis;
  }
  return count;
}

std::string ToString(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (const std::int64_t axis : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(axis);
  }
  return text;
}

Result<Shape> ParseShape(std::string_view text) {
  if (text == "scalar") return Shape{};
  Shape shape;
  const char* position = text.data();
  const char* const end = text.data() + text.size();
  while (true) {
    std::int64_t axis = 0;
    const auto [next, error] = std::from_chars(position, end, axis);
    if (error != std::errc() || axis < 0) break;
    shape.push_back(axis);
    if (next == end) {
      PARITY_RETURN_IF_ERROR(ElementCount(shape));
      return shape;
    }
    if (*next != 'x' && *next != ',') break;
    position = next + 1;
  }
  return Fail(
      ErrorCode::kInvalidArgument,
      std::format(
          "'{}' is not a shape: write the axes as 1x3x720x1280, or 'scalar'",
          text));
}

Shape UnravelIndex(std::int64_t index, std::span<const std::int64_t> shape) {
  Shape position(shape.begin(), shape.end());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return position;
}

Result<Tensor> Tensor::Allocate(DType dtype, Shape shape) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t size, TotalBytes(dtype, shape));
  // calloc-like zeroing would touch every page twice; aligned_alloc + memset
  // touches it once.
  const std::size_t rounded =
      (static_cast<std::size_t>(size) + kAlignment) / kAlignment * kAlignment;
  void* const block = std::aligned_alloc(kAlignment, rounded);
  if (block == nullptr) {
    return Fail(ErrorCode::kIo,
                std::format("no memory for a {} tensor of shape {} ({} bytes)",
                            Name(dtype), ToString(shape), size));
  }
  std::memset(block, 0, rounded);
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.owner_ = std::shared_ptr<const void>(
      block, [](const void* p) { std::free(const_cast<void*>(p)); });
  tensor.bytes_ = {static_cast<const std::byte*>(block),
                   static_cast<std::size_t>(size)};
  tensor.writable_ = true;
  return tensor;
}

Result<Tensor> Tensor::Copy(DType dtype, Shape shape,
                            std::span<const std::byte> bytes) {
  PARITY_ASSIGN_OR_RETURN(const std::int64_t size, TotalBytes(dtype, shape));
  if (static_cast<std::size_t>(size) != bytes.size()) {
    return Fail(ErrorCode::kCorrupt,
                std::format("a {} tensor of shape {} needs {} bytes, not {}",
                            Name(dtype), ToString(shape), size, bytes.size()));
  }
  PARITY_ASSIGN_OR_RETURN(Tensor tensor, Allocate(dtype, std::move(shape)));
  if (!bytes.empty())
    std::memcpy(tensor.mutable_bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

Result<Tensor> Tensor::Borrow(DType dtype, Shape shape,
                              std::span<const std::byte> bytes,
                              std::shared_ptr<const void> owner) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  if (address % static_cast<std::uintptr_t>(ByteSize(dtype)) != 0)
    return Copy(dtype, std::move(shape), bytes);
  PARITY_ASSIGN_OR_RETURN(const std::int64_t size, TotalBytes(dtype, shape));
  if (static_cast<std::size_t>(size) != bytes.size()) {
    return Fail(ErrorCode::kCorrupt,
                std::format("a {} tensor of shape {} needs {} bytes, not {}",
                            Name(dtype), ToString(shape), size, bytes.size()));
  }
  Tensor tensor;
  tensor.dtype_ = dtype;
  tensor.shape_ = std::move(shape);
  tensor.bytes_ = bytes;
  tensor.owner_ = std::move(owner);
  return tensor;
}

std::span<std::byte> Tensor::mutable_bytes() {
  assert(writable_ || bytes_.empty());
  return {const_cast<std::byte*>(bytes_.data()), bytes_.size()};
}

const Tensor* FindTensor(const NamedTensors& tensors, std::string_view name) {
  for (const NamedTensor& entry : tensors) {
    if (entry.name == name) return &entry.tensor;
  }
  return nullptr;
}

}  // namespace parity
