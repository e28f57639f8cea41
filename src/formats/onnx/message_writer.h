// Builds one protobuf message of which large blocks are borrowed, so that
// writing a model copies no weights.
#ifndef PARITY_FORMATS_ONNX_MESSAGE_WRITER_H_
#define PARITY_FORMATS_ONNX_MESSAGE_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_mapping.h"
#include "parity/error.h"

namespace parity::onnx {

// Bytes of a varint.
[[nodiscard]] std::size_t VarintSize(std::uint64_t value);

class MessageWriter {
 public:
  // Blocks of at least this size are borrowed.
  static constexpr std::size_t kBorrowedBytes = 1024;

  void AddInteger(std::uint32_t field, std::int64_t value);
  void AddFloat(std::uint32_t field, float value);
  // Copies `text`.
  void AddText(std::uint32_t field, std::string_view text);
  // The same unless `text` is empty, as protobuf writes fields that are not
  // set.
  void AddTextIfSet(std::uint32_t field, std::string_view text);
  // `bytes` must outlive this message and those it is added to.
  void AddBytes(std::uint32_t field, std::span<const std::byte> bytes);
  void AddMessage(std::uint32_t field, const MessageWriter& message);
  // The fields of `message`, as if they had been added here.
  void AddFields(const MessageWriter& message);
  // The key of a field and the length of its content, which follows by
  // AddFields().
  void AddHeader(std::uint32_t field, std::uint64_t length);

  // Bytes of the message.
  [[nodiscard]] std::size_t size() const {
    return text_.size() + borrowed_size_;
  }
  [[nodiscard]] std::string ToString() const;
  // Errors: those of AtomicFile::Write().
  [[nodiscard]] Status WriteTo(AtomicFile& file) const;

 private:
  // A borrowed block that stands before text_[position].
  struct Block {
    std::size_t position;
    std::span<const std::byte> bytes;
  };
  std::string text_;
  std::vector<Block> blocks_;  // in ascending order of position
  std::size_t borrowed_size_ = 0;
};

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_MESSAGE_WRITER_H_
