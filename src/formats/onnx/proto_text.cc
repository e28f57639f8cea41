#include "formats/onnx/proto_text.h"

#include <format>
#include <new>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "formats/text/utf8.h"
#include "parity/error.h"

namespace parity::onnx {

const char* NotUtf8Exception::what() const noexcept {
  return "a name or text is not UTF-8";
}

std::string ReadText(protozero::pbf_reader& reader) {
  const std::string_view text = View(reader.get_view());
  if (!IsUtf8(text)) throw NotUtf8Exception();
  return std::string(text);
}

Error ErrorOfCaughtException(std::string_view expected) {
  std::string reason;
  try {
    throw;
  } catch (const protozero::end_of_buffer_exception&) {
    reason = "a field reaches beyond the end (is the file complete?)";
  } catch (const protozero::varint_too_long_exception&) {
    reason = "a number has more than 10 bytes";
  } catch (const protozero::invalid_tag_exception&) {
    reason = "a field has an impossible number";
  } catch (const protozero::unknown_pbf_wire_type_exception&) {
    reason = "a field has an impossible type";
  } catch (const protozero::exception& error) {
    reason = error.what();
  } catch (const std::bad_alloc&) {
    return {.code = ErrorCode::kIo,
            .message = std::format("no memory left to read this {}", expected)};
  }
  return {.code = ErrorCode::kCorrupt,
          .message = std::format("not a valid {}: {}", expected, reason)};
}

}  // namespace parity::onnx
