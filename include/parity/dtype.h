// Element types of tensors, as ONNX, PyTorch and safetensors share them.
#ifndef PARITY_DTYPE_H_
#define PARITY_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace parity {

enum class DType : std::uint8_t {
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kBool,        // one byte, 0 or 1
  kComplex64,   // two float32; can be stored and listed, not compared
  kComplex128,  // two float64; can be stored and listed, not compared
};

// Bytes of one element.
[[nodiscard]] std::int64_t ByteSize(DType dtype);

// "float32", "int64", "bool", …: the names PyTorch and NumPy use.
[[nodiscard]] std::string_view Name(DType dtype);

// The inverse of Name(); nothing for an unknown name.
[[nodiscard]] std::optional<DType> DTypeFromName(std::string_view name);

// float16, bfloat16, float32, float64.
[[nodiscard]] bool IsFloating(DType dtype);

// Signed and unsigned integers, not bool.
[[nodiscard]] bool IsInteger(DType dtype);

}  // namespace parity

#endif  // PARITY_DTYPE_H_
