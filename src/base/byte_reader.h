// Reads little-endian values from untrusted bytes; every read is checked
// against the end.
#ifndef PARITY_BASE_BYTE_READER_H_
#define PARITY_BASE_BYTE_READER_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <format>
#include <span>
#include <string_view>

#include "parity/error.h"

namespace parity {

class ByteReader {
 public:
  // Borrows `bytes`. `offset` only shifts the positions named in errors.
  explicit ByteReader(std::span<const std::byte> bytes, std::size_t offset = 0)
      : bytes_(bytes), origin_(offset) {}

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const {
    return bytes_.size() - position_;
  }

  // A little-endian integer or float. Errors: kCorrupt at the end of the bytes.
  template <class T>
  [[nodiscard]] Result<T> Read() {
    auto bytes = Take(sizeof(T));
    if (!bytes) return std::unexpected(std::move(bytes).error());
    T value;
    std::memcpy(&value, bytes->data(), sizeof(T));
    return value;
  }

  // The next `count` bytes, borrowed. Errors: kCorrupt when fewer are left.
  [[nodiscard]] Result<std::span<const std::byte>> Take(std::uint64_t count) {
    if (count > remaining()) {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("ends too early: {} bytes wanted at offset {}, {} left",
                      count, origin_ + position_, remaining()));
    }
    const auto taken =
        bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += static_cast<std::size_t>(count);
    return taken;
  }

  // Text up to and without the next '\n', which is consumed. Errors: kCorrupt
  // when there is none.
  [[nodiscard]] Result<std::string_view> TakeLine() {
    const std::string_view rest(
        reinterpret_cast<const char*>(bytes_.data()) + position_, remaining());
    const std::size_t length = rest.find('\n');
    if (length == std::string_view::npos) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("ends too early: no line end after offset {}",
                              origin_ + position_));
    }
    position_ += length + 1;
    return rest.substr(0, length);
  }

  // Errors: kCorrupt when `position` is beyond the end.
  [[nodiscard]] Status Seek(std::uint64_t position) {
    if (position > bytes_.size()) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("points to offset {} of {} bytes", position,
                              bytes_.size()));
    }
    position_ = static_cast<std::size_t>(position);
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t origin_ = 0;
  std::size_t position_ = 0;
};

}  // namespace parity

#endif  // PARITY_BASE_BYTE_READER_H_
