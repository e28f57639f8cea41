// Tensors: a dtype, a shape and row-major contiguous elements in little-endian
// order.
#ifndef PARITY_TENSOR_H_
#define PARITY_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parity/dtype.h"
#include "parity/error.h"

namespace parity {

// Sizes of the axes, outermost first. Empty for a scalar; an axis may be 0.
using Shape = std::vector<std::int64_t>;

// Product of the axes. Errors: kCorrupt for a negative axis or a product beyond
// 2^62.
[[nodiscard]] Result<std::int64_t> ElementCount(
    std::span<const std::int64_t> shape);

// "1x3x720x1280"; "scalar" for rank 0.
[[nodiscard]] std::string ToString(std::span<const std::int64_t> shape);

// The inverse of ToString(); also takes commas. Errors: kInvalidArgument with
// the offending text.
[[nodiscard]] Result<Shape> ParseShape(std::string_view text);

// Coordinates of a flat row-major index, one an axis. `index` must lie inside
// the shape.
[[nodiscard]] Shape UnravelIndex(std::int64_t index,
                                 std::span<const std::int64_t> shape);

// A borrowed tensor: whoever owns the bytes must outlive it. Aligned to at
// least ByteSize(dtype) when made by Tensor.
struct TensorView {
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;

  [[nodiscard]] std::int64_t element_count() const {
    return static_cast<std::int64_t>(bytes.size()) / ByteSize(dtype);
  }
  // The elements as T; T must be the type `dtype` names.
  template <class T>
  [[nodiscard]] std::span<const T> As() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

// A tensor that keeps its bytes alive: its own block, a mapped file or shared
// memory. Copies share the bytes. Thread-safe to read. The bytes are written
// only through mutable_bytes(), by whoever made the tensor, before it is
// shared.
class Tensor {
 public:
  Tensor() = default;

  // Zero-filled, aligned to 64 bytes. Errors: kCorrupt for an impossible shape.
  [[nodiscard]] static Result<Tensor> Allocate(DType dtype, Shape shape);

  // `bytes` must be exactly the tensor's and stay valid as long as `owner`
  // lives. Errors: kCorrupt when the size is not element count × element size;
  // bytes that are not aligned to the element size are copied.
  [[nodiscard]] static Result<Tensor> Borrow(DType dtype, Shape shape,
                                             std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner);

  // A copy of `values`, whose C++ type must be the one `dtype` names. Errors:
  // kCorrupt when the shape does not fit.
  template <class T>
  [[nodiscard]] static Result<Tensor> From(DType dtype, Shape shape,
                                           std::span<const T> values) {
    return Copy(dtype, std::move(shape), std::as_bytes(values));
  }
  [[nodiscard]] static Result<Tensor> Copy(DType dtype, Shape shape,
                                           std::span<const std::byte> bytes);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t element_count() const {
    return view().element_count();
  }
  [[nodiscard]] TensorView view() const {
    return {.dtype = dtype_, .shape = shape_, .bytes = bytes_};
  }
  template <class T>
  [[nodiscard]] std::span<const T> As() const {
    return view().As<T>();
  }
  // Only for tensors made by Allocate() and Copy(), before they are shared.
  [[nodiscard]] std::span<std::byte> mutable_bytes();
  template <class T>
  [[nodiscard]] std::span<T> MutableAs() {
    const std::span<std::byte> all = mutable_bytes();
    return {reinterpret_cast<T*>(all.data()), all.size() / sizeof(T)};
  }

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_{0};
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  bool writable_ = false;
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// Tensors in a meaningful order (of a model's inputs or outputs, or of a file).
// Names are unique.
using NamedTensors = std::vector<NamedTensor>;

// Null when there is none of that name.
[[nodiscard]] const Tensor* FindTensor(const NamedTensors& tensors,
                                       std::string_view name);

}  // namespace parity

#endif  // PARITY_TENSOR_H_
