// Pictures drawn row by row into a tensor.
#ifndef PARITY_GENERATE_PICTURE_H_
#define PARITY_GENERATE_PICTURE_H_

#include <algorithm>
#include <cstddef>
#include <span>

#include "generate/element_writer.h"
#include "parity/dtype.h"
#include "parity/tensor.h"

namespace parity {

// A tensor seen as images × channels × height × width: its last three axes, and
// all before them together. Rows may be written from several threads.
class PictureWriter {
 public:
  // The shape has at least two axes. Borrows the tensor.
  explicit PictureWriter(Tensor& tensor)
      : dtype_(tensor.dtype()), bytes_(tensor.mutable_bytes()) {
    const Shape& shape = tensor.shape();
    const std::size_t rank = shape.size();
    width_ = Axis(shape[rank - 1]);
    height_ = Axis(shape[rank - 2]);
    channels_ = rank > 2 ? Axis(shape[rank - 3]) : 1;
    const std::size_t image = channels_ * height_ * width_;
    images_ = image == 0
                  ? 0
                  : static_cast<std::size_t>(tensor.element_count()) / image;
  }

  [[nodiscard]] std::size_t images() const { return images_; }
  [[nodiscard]] std::size_t channels() const { return channels_; }
  [[nodiscard]] std::size_t height() const { return height_; }
  [[nodiscard]] std::size_t width() const { return width_; }

  // Row-major index of a row's first element.
  [[nodiscard]] std::size_t RowStart(std::size_t image, std::size_t channel,
                                     std::size_t row) const {
    return ((image * channels_ + channel) * height_ + row) * width_;
  }

  // Writes one row, limited to [0, 1] (bytes: × 255). `values` is overwritten.
  void WriteRow(std::size_t image, std::size_t channel, std::size_t row,
                std::span<double> values) const {
    const double scale = IsFloating(dtype_) ? 1 : 255;
    for (double& value : values) value = std::clamp(value, 0.0, 1.0) * scale;
    WriteElements(dtype_, bytes_, RowStart(image, channel, row), values);
  }

 private:
  static std::size_t Axis(std::int64_t size) {
    return static_cast<std::size_t>(size);
  }

  DType dtype_;
  std::span<std::byte> bytes_;
  std::size_t images_ = 0;
  std::size_t channels_ = 0;
  std::size_t height_ = 0;
  std::size_t width_ = 0;
};

}  // namespace parity

#endif  // PARITY_GENERATE_PICTURE_H_
