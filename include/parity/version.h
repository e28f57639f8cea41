// The version of the library in use.
#ifndef PARITY_VERSION_H_
#define PARITY_VERSION_H_

#include <string_view>

namespace parity {

// "0.1.0"
[[nodiscard]] std::string_view Version();

}  // namespace parity

#endif  // PARITY_VERSION_H_
