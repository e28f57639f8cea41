// Decodes ValueInfoProto: the declared name, dtype and shape of a value.
#ifndef PARITY_FORMATS_ONNX_VALUE_INFO_PROTO_H_
#define PARITY_FORMATS_ONNX_VALUE_INFO_PROTO_H_

#include <string_view>

#include "graph/model.h"

namespace parity::onnx {

// A dimension with a negative value, which some exporters write for "unknown",
// becomes one without a value. Throws protozero's exceptions for bytes that are
// no protobuf message.
[[nodiscard]] ValueInfo DecodeValueInfo(std::string_view message);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_VALUE_INFO_PROTO_H_
