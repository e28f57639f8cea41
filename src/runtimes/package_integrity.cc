#include "runtimes/package_integrity.h"

#include <cstddef>
#include <format>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

#include "base/sha512.h"
#include "parity/error.h"

namespace parity {
namespace {

constexpr std::string_view kAlgorithm = "sha512-";

}  // namespace

std::string IntegrityOf(std::span<const std::byte> bytes) {
  return std::string(kAlgorithm) + Sha512Base64(bytes);
}

Status CheckIntegrity(std::span<const std::byte> bytes,
                      std::string_view integrity, std::string_view what) {
  bool known = false;
  std::string actual;
  std::istringstream entries{std::string(integrity)};
  for (std::string entry; entries >> entry;) {
    if (!entry.starts_with(kAlgorithm)) continue;
    if (!known) actual = IntegrityOf(bytes);
    known = true;
    // Behind a question mark stand options without a meaning so far.
    if (entry.substr(0, entry.find('?')) == actual) return {};
  }
  if (!known) {
    return Fail(ErrorCode::kInvalidArgument,
                std::format("{}: '{}' is no integrity of the form "
                            "sha512-<base64>",
                            what, integrity));
  }
  return Fail(ErrorCode::kCorrupt,
              std::format("{} is not what its integrity promises (expected {}, "
                          "it is {}): refused",
                          what, integrity, actual));
}

}  // namespace parity
