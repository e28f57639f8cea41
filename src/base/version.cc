#include "parity/version.h"

#include <string_view>

#include "base/version.h"

namespace parity {

std::string_view Version() { return kVersion; }

}  // namespace parity
