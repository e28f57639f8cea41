// Text fields of protobuf messages, and what protozero throws as errors.
// For the decoders of this folder only: it brings protozero's headers.
#ifndef PARITY_FORMATS_ONNX_PROTO_TEXT_H_
#define PARITY_FORMATS_ONNX_PROTO_TEXT_H_

#include <protozero/data_view.hpp>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "parity/error.h"

namespace parity::onnx {

// A field of protobuf's type string is not UTF-8. Reports print such fields and
// put them into JSON, so they are refused here, as protobuf demands.
struct NotUtf8Exception : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override;
};

[[nodiscard]] inline std::string_view View(const protozero::data_view& view) {
  return {view.data(), view.size()};
}

// The current field, of protobuf's type string. Throws NotUtf8Exception.
[[nodiscard]] std::string ReadText(protozero::pbf_reader& reader);

// Why bytes that made protozero throw are not `expected`, as one line. To be
// called while the exception is handled. Rethrows what is neither protozero's
// nor the lack of memory.
[[nodiscard]] Error ErrorOfCaughtException(std::string_view expected);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_PROTO_TEXT_H_
