// The numbers ONNX gives to element types (TensorProto.DataType).
#ifndef PARITY_FORMATS_ONNX_ONNX_DTYPE_H_
#define PARITY_FORMATS_ONNX_ONNX_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parity/dtype.h"

namespace parity::onnx {

// Nothing for a type that Tensor cannot hold.
[[nodiscard]] std::optional<DType> DTypeFromNumber(std::int32_t number);
[[nodiscard]] std::int32_t NumberFromDType(DType dtype);

// "float32", "string", "float8e4m3fn", …; "type 99" for a number ONNX does not
// define.
[[nodiscard]] std::string NumberName(std::int32_t number);
// The inverse of NumberName() for the types ONNX defines.
[[nodiscard]] std::optional<std::int32_t> NumberFromName(std::string_view name);

}  // namespace parity::onnx

#endif  // PARITY_FORMATS_ONNX_ONNX_DTYPE_H_
