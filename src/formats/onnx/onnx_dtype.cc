#include "formats/onnx/onnx_dtype.h"

#include <array>
#include <cstdint>
#include <format>
#include <optional>
#include <string>
#include <string_view>

#include "parity/dtype.h"

namespace parity::onnx {
namespace {

struct Entry {
  std::int32_t number;
  std::string_view name;
  std::optional<DType> dtype;
};

constexpr std::array kEntries = {
    Entry{.number = 0, .name = "undefined", .dtype = {}},
    Entry{.number = 1, .name = "float32", .dtype = DType::kFloat32},
    Entry{.number = 2, .name = "uint8", .dtype = DType::kUInt8},
    Entry{.number = 3, .name = "int8", .dtype = DType::kInt8},
    Entry{.number = 4, .name = "uint16", .dtype = DType::kUInt16},
    Entry{.number = 5, .name = "int16", .dtype = DType::kInt16},
    Entry{.number = 6, .name = "int32", .dtype = DType::kInt32},
    Entry{.number = 7, .name = "int64", .dtype = DType::kInt64},
    Entry{.number = 8, .name = "string", .dtype = {}},
    Entry{.number = 9, .name = "bool", .dtype = DType::kBool},
    Entry{.number = 10, .name = "float16", .dtype = DType::kFloat16},
    Entry{.number = 11, .name = "float64", .dtype = DType::kFloat64},
    Entry{.number = 12, .name = "uint32", .dtype = DType::kUInt32},
    Entry{.number = 13, .name = "uint64", .dtype = DType::kUInt64},
    Entry{.number = 14, .name = "complex64", .dtype = DType::kComplex64},
    Entry{.number = 15, .name = "complex128", .dtype = DType::kComplex128},
    Entry{.number = 16, .name = "bfloat16", .dtype = DType::kBFloat16},
    Entry{.number = 17, .name = "float8e4m3fn", .dtype = {}},
    Entry{.number = 18, .name = "float8e4m3fnuz", .dtype = {}},
    Entry{.number = 19, .name = "float8e5m2", .dtype = {}},
    Entry{.number = 20, .name = "float8e5m2fnuz", .dtype = {}},
    Entry{.number = 21, .name = "uint4", .dtype = {}},
    Entry{.number = 22, .name = "int4", .dtype = {}},
    Entry{.number = 23, .name = "float4e2m1", .dtype = {}},
    Entry{.number = 24, .name = "float8e8m0", .dtype = {}},
    Entry{.number = 25, .name = "uint2", .dtype = {}},
    Entry{.number = 26, .name = "int2", .dtype = {}},
};

}  // namespace

std::optional<DType> DTypeFromNumber(std::int32_t number) {
  for (const Entry& entry : kEntries) {
    if (entry.number == number) return entry.dtype;
  }
  return std::nullopt;
}

std::int32_t NumberFromDType(DType dtype) {
  for (const Entry& entry : kEntries) {
    if (entry.dtype == dtype) return entry.number;
  }
  return 0;  // unreachable: the table has every DType, which its test checks
}

std::string NumberName(std::int32_t number) {
  for (const Entry& entry : kEntries) {
    if (entry.number == number) return std::string(entry.name);
  }
  return std::format("type {}", number);
}

std::optional<std::int32_t> NumberFromName(std::string_view name) {
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.number;
  }
  return std::nullopt;
}

}  // namespace parity::onnx
