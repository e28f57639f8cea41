// The texts of pickle protocol 0: numbers and strings as Python spells them.
#ifndef PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_TEXT_H_
#define PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_TEXT_H_

#include <string>
#include <string_view>

#include "formats/torch_checkpoint/pickle_value.h"
#include "parity/error.h"

namespace parity {

// "12", "-3", "119547037146038801333356": a PickleBigInt beyond 64 bits.
// Errors: kCorrupt.
[[nodiscard]] Result<PickleValue> ParsePickleInt(std::string_view line);

// "0.25", "1e-05", "inf", "nan". Errors: kCorrupt.
[[nodiscard]] Result<double> ParsePickleFloat(std::string_view line);

// A quoted Python string literal: 'it\'s', "\x41\n". Errors: kCorrupt.
[[nodiscard]] Result<std::string> ParsePickleString(std::string_view line);

// Python's raw-unicode-escape (Latin-1 with \uXXXX and \UXXXXXXXX), as UTF-8.
// Errors: kCorrupt.
[[nodiscard]] Result<std::string> ParsePickleUnicode(std::string_view line);

}  // namespace parity

#endif  // PARITY_FORMATS_TORCH_CHECKPOINT_PICKLE_TEXT_H_
