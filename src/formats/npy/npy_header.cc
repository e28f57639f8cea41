#include "formats/npy/npy_header.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <format>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/status_macros.h"
#include "formats/elements/elements.h"
#include "parity/dtype.h"
#include "parity/error.h"
#include "parity/tensor.h"

namespace parity {
namespace {

struct Code {
  std::string_view name;  // without the byte order
  DType dtype;
};
constexpr std::array kCodes = {
    Code{"f2", DType::kFloat16},   Code{"f4", DType::kFloat32},
    Code{"f8", DType::kFloat64},   Code{"i1", DType::kInt8},
    Code{"i2", DType::kInt16},     Code{"i4", DType::kInt32},
    Code{"i8", DType::kInt64},     Code{"u1", DType::kUInt8},
    Code{"u2", DType::kUInt16},    Code{"u4", DType::kUInt32},
    Code{"u8", DType::kUInt64},    Code{"b1", DType::kBool},
    Code{"c8", DType::kComplex64}, Code{"c16", DType::kComplex128},
};

// A cursor over the literal. Every Take… skips spaces first.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool TryTake(std::string_view token) {
    SkipSpaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  [[nodiscard]] Status Take(std::string_view token) {
    if (TryTake(token)) return {};
    return Unexpected(std::format("'{}'", token));
  }
  // 'text' or "text"; escapes do not occur in these headers.
  [[nodiscard]] Result<std::string_view> TakeText() {
    SkipSpaces();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') return Unexpected("a quoted text");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return Unexpected("a closed text");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }
  [[nodiscard]] Result<std::int64_t> TakeSize() {
    SkipSpaces();
    std::int64_t value = 0;
    const auto [stop, code] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc() || value < 0)
      return Unexpected("a size of an axis");
    rest_.remove_prefix(static_cast<std::size_t>(stop - rest_.data()));
    // Python 2 wrote long integers as 3L.
    if (rest_.starts_with('L')) rest_.remove_prefix(1);
    return value;
  }
  [[nodiscard]] Status TakeEnd() {
    SkipSpaces();
    return rest_.empty() ? Status() : Unexpected("the end");
  }
  [[nodiscard]] std::unexpected<Error> Unexpected(
      std::string_view wanted) const {
    return Fail(ErrorCode::kCorrupt,
                std::format("the header wants {} before '{}'", wanted,
                            rest_.substr(0, 20)));
  }
  [[nodiscard]] char Peek() {
    SkipSpaces();
    return rest_.empty() ? '\0' : rest_.front();
  }

 private:
  void SkipSpaces() {
    const std::size_t first = rest_.find_first_not_of(" \n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  std::string_view rest_;
};

// () or (2,) or (2, 3) or (2, 3,); (2) is a number in Python, not a tuple.
Result<Shape> TakeShape(Literal& literal) {
  PARITY_RETURN_IF_ERROR(literal.Take("("));
  Shape shape;
  bool comma = true;
  while (!literal.TryTake(")")) {
    if (!comma) return literal.Unexpected("','");
    PARITY_ASSIGN_OR_RETURN(const std::int64_t axis, literal.TakeSize());
    shape.push_back(axis);
    if (shape.size() > kMaxRank) {
      return Fail(ErrorCode::kCorrupt,
                  std::format("has more than {} axes", kMaxRank));
    }
    comma = literal.TryTake(",");
  }
  if (shape.size() == 1 && !comma) return literal.Unexpected("','");
  return shape;
}

Result<bool> TakeBool(Literal& literal) {
  if (literal.TryTake("True")) return true;
  if (literal.TryTake("False")) return false;
  return literal.Unexpected("True or False");
}

std::unexpected<Error> UnsupportedDescr(std::string_view descr) {
  if (descr.contains('O')) {
    return Fail(ErrorCode::kUnsupported,
                "holds Python objects (dtype 'O'), which only Python can read; "
                "save it with a numeric dtype");
  }
  return Fail(ErrorCode::kUnsupported,
              std::format("has the dtype '{}', which is no number type this "
                          "version reads; save it as float32, say",
                          descr));
}

// '<f4', '>f4', '|u1', or '=f4': native, which is little-endian wherever this
// program runs.
Status ParseDescr(std::string_view descr, NpyHeader& header) {
  if (descr.size() < 3) return UnsupportedDescr(descr);
  const char order = descr.front();
  for (const Code& code : kCodes) {
    if (descr.substr(1) != code.name) continue;
    header.dtype = code.dtype;
    header.big_endian = order == '>';
    const bool order_needed = ByteSize(code.dtype) > 1;
    if (order == '<' || order == '>' || order == '=' ||
        (order == '|' && !order_needed)) {
      return {};
    }
    return Fail(ErrorCode::kCorrupt,
                std::format("the dtype '{}' has no byte order", descr));
  }
  return UnsupportedDescr(descr);
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view text) {
  Literal literal(text);
  std::optional<std::string_view> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
  PARITY_RETURN_IF_ERROR(literal.Take("{"));
  bool comma = true;
  while (!literal.TryTake("}")) {
    if (!comma) return literal.Unexpected("','");
    PARITY_ASSIGN_OR_RETURN(const std::string_view key, literal.TakeText());
    PARITY_RETURN_IF_ERROR(literal.Take(":"));
    if (key == "descr" && !descr) {
      if (literal.Peek() == '[') {
        return Fail(ErrorCode::kUnsupported,
                    "holds records (a structured dtype); save each field as an "
                    "array of its own");
      }
      PARITY_ASSIGN_OR_RETURN(descr, literal.TakeText());
    } else if (key == "fortran_order" && !fortran_order) {
      PARITY_ASSIGN_OR_RETURN(fortran_order, TakeBool(literal));
    } else if (key == "shape" && !shape) {
      PARITY_ASSIGN_OR_RETURN(shape, TakeShape(literal));
    } else {
      return Fail(
          ErrorCode::kCorrupt,
          std::format("the header has a second or unknown key '{}'", key));
    }
    comma = literal.TryTake(",");
  }
  PARITY_RETURN_IF_ERROR(literal.TakeEnd());
  if (!descr || !fortran_order || !shape) {
    return Fail(ErrorCode::kCorrupt,
                "the header lacks 'descr', 'fortran_order' or 'shape'");
  }
  NpyHeader header{.fortran_order = *fortran_order, .shape = *std::move(shape)};
  PARITY_RETURN_IF_ERROR(ParseDescr(*descr, header));
  return header;
}

}  // namespace parity
