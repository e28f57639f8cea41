#include "formats/onnx/message_writer.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/file_mapping.h"
#include "base/status_macros.h"
#include "formats/onnx/onnx_fields.h"
#include "parity/error.h"

namespace parity::onnx {
namespace {

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::size_t VarintSize(std::uint64_t value) {
  return static_cast<std::size_t>(protozero::length_of_varint(value));
}

void MessageWriter::AddInteger(std::uint32_t field, std::int64_t value) {
  protozero::pbf_writer(text_).add_int64(field, value);
}

void MessageWriter::AddFloat(std::uint32_t field, float value) {
  protozero::pbf_writer(text_).add_float(field, value);
}

void MessageWriter::AddHeader(std::uint32_t field, std::uint64_t length) {
  protozero::write_varint(std::back_inserter(text_), Bytes(field));
  protozero::write_varint(std::back_inserter(text_), length);
}

void MessageWriter::AddText(std::uint32_t field, std::string_view text) {
  AddHeader(field, text.size());
  text_ += text;
}

void MessageWriter::AddTextIfSet(std::uint32_t field, std::string_view text) {
  if (!text.empty()) AddText(field, text);
}

void MessageWriter::AddBytes(std::uint32_t field,
                             std::span<const std::byte> bytes) {
  if (bytes.size() < kBorrowedBytes) {
    AddText(field, AsText(bytes));
    return;
  }
  AddHeader(field, bytes.size());
  blocks_.push_back({.position = text_.size(), .bytes = bytes});
  borrowed_size_ += bytes.size();
}

void MessageWriter::AddMessage(std::uint32_t field,
                               const MessageWriter& message) {
  AddHeader(field, message.size());
  AddFields(message);
}

void MessageWriter::AddFields(const MessageWriter& message) {
  for (const Block& block : message.blocks_) {
    blocks_.push_back(
        {.position = text_.size() + block.position, .bytes = block.bytes});
  }
  borrowed_size_ += message.borrowed_size_;
  text_ += message.text_;
}

std::string MessageWriter::ToString() const {
  std::string all;
  all.reserve(size());
  std::size_t position = 0;
  for (const Block& block : blocks_) {
    all.append(text_, position, block.position - position);
    all += AsText(block.bytes);
    position = block.position;
  }
  all.append(text_, position);
  return all;
}

Status MessageWriter::WriteTo(AtomicFile& file) const {
  const std::string_view text = text_;
  std::size_t position = 0;
  for (const Block& block : blocks_) {
    PARITY_RETURN_IF_ERROR(
        file.Write(text.substr(position, block.position - position)));
    PARITY_RETURN_IF_ERROR(file.Write(block.bytes));
    position = block.position;
  }
  return file.Write(text.substr(position));
}

}  // namespace parity::onnx
