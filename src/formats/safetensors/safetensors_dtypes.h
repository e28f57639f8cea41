// The names safetensors gives to element types.
#ifndef PARITY_FORMATS_SAFETENSORS_SAFETENSORS_DTYPES_H_
#define PARITY_FORMATS_SAFETENSORS_SAFETENSORS_DTYPES_H_

#include <array>
#include <string_view>

#include "parity/dtype.h"

namespace parity {

struct SafetensorsDType {
  DType dtype;
  std::string_view name;
};

// kComplex128 has no name in the format.
inline constexpr std::array kSafetensorsDTypes = {
    SafetensorsDType{DType::kFloat32, "F32"},
    SafetensorsDType{DType::kInt64, "I64"},
    SafetensorsDType{DType::kFloat16, "F16"},
    SafetensorsDType{DType::kFloat64, "F64"},
    SafetensorsDType{DType::kBFloat16, "BF16"},
    SafetensorsDType{DType::kBool, "BOOL"},
    SafetensorsDType{DType::kInt8, "I8"},
    SafetensorsDType{DType::kInt16, "I16"},
    SafetensorsDType{DType::kInt32, "I32"},
    SafetensorsDType{DType::kUInt8, "U8"},
    SafetensorsDType{DType::kUInt16, "U16"},
    SafetensorsDType{DType::kUInt32, "U32"},
    SafetensorsDType{DType::kUInt64, "U64"},
    SafetensorsDType{DType::kComplex64, "C64"},
};

}  // namespace parity

#endif  // PARITY_FORMATS_SAFETENSORS_SAFETENSORS_DTYPES_H_
