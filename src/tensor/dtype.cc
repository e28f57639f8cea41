#include "parity/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace parity {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::int64_t byte_size;
};

// In the order of the enumeration: Info() indexes it.
constexpr std::array kTable = {
    Entry{DType::kFloat16, "float16", 2},
    Entry{DType::kBFloat16, "bfloat16", 2},
    Entry{DType::kFloat32, "float32", 4},
    Entry{DType::kFloat64, "float64", 8},
    Entry{DType::kInt8, "int8", 1},
    Entry{DType::kInt16, "int16", 2},
    Entry{DType::kInt32, "int32", 4},
    Entry{DType::kInt64, "int64", 8},
    Entry{DType::kUInt8, "uint8", 1},
    Entry{DType::kUInt16, "uint16", 2},
    Entry{DType::kUInt32, "uint32", 4},
    Entry{DType::kUInt64, "uint64", 8},
    Entry{DType::kBool, "bool", 1},
    Entry{DType::kComplex64, "complex64", 8},
    Entry{DType::kComplex128, "complex128", 16},
};

const Entry& Info(DType dtype) {
  return kTable[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::int64_t ByteSize(DType dtype) { return Info(dtype).byte_size; }

std::string_view Name(DType dtype) { return Info(dtype).name; }

std::optional<DType> DTypeFromName(std::string_view name) {
  for (const Entry& entry : kTable) {
    if (entry.name == name) return entry.dtype;
  }
  return std::nullopt;
}

bool IsFloating(DType dtype) { return dtype <= DType::kFloat64; }

bool IsInteger(DType dtype) {
  return dtype >= DType::kInt8 && dtype <= DType::kUInt64;
}

}  // namespace parity
